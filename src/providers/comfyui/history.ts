import type { MediaKind } from '../../models/definition/media-kind.ts';
import { type HistoryEntry, outputFile } from './comfy-wire.ts';

/** A file on the server. Its fields are the parameters of `GET /view`, which returns the content. */
export interface OutputFile {
  filename: string;
  subfolder: string;
  type: string;
}

const EXTENSION = { image: /\.(?:png|jpe?g|webp)$/i, video: /\.(?:mp4|m4v|mov|webm|mkv)$/i } as const;

/** The files of a kind that the run saved, in order. Previews (`type: "temp"`) are not among them. */
export function outputFiles({ outputs = {} }: HistoryEntry, kind: MediaKind): OutputFile[] {
  return Object.values(outputs)
    .flatMap((output) => Object.values(output ?? {}))
    .flatMap((items) => (Array.isArray(items) ? (items as unknown[]) : []))
    .flatMap((item) => outputFile.safeParse(item).data ?? [])
    .filter(({ filename, type }) => type === 'output' && EXTENSION[kind].test(filename))
    .map(({ filename, subfolder = '', type }) => ({ filename, subfolder, type }));
}

/** The data of the run's last event of this name; null if there was none. */
export function eventOf({ status }: HistoryEntry, name: string): unknown {
  const event = status?.messages?.findLast((message) => Array.isArray(message) && message[0] === name);
  return event ? ((event as unknown[])[1] ?? {}) : null;
}
