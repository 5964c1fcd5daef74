/** What the server keeps of a run that is over. */
export interface HistoryEntry {
  /** By node id. Videos stand under `images` as well; some extensions use `gifs` or `videos`. */
  outputs?: Record<string, Record<string, unknown>>;
  status?: {
    status_str?: string;
    completed?: boolean;
    /** `[event, data]` */
    messages?: unknown[];
  } | null;
}

/** A file on the server, in the words of its `/view`. */
export interface OutputFile {
  filename: string;
  subfolder: string;
  type: string;
}

const EXTENSION = { image: /\.(?:png|jpe?g|webp)$/i, video: /\.(?:mp4|m4v|mov|webm|mkv)$/i } as const;

/** The files of a kind that the run saved, in order; what it only previewed (`type: "temp"`) is none of them. */
export function outputFiles({ outputs = {} }: HistoryEntry, kind: 'image' | 'video'): OutputFile[] {
  return Object.values(outputs)
    .flatMap((output) => Object.values(output ?? {}))
    .flatMap((items) => (Array.isArray(items) ? (items as unknown[]) : []))
    .filter(isFile)
    .filter(({ filename, type }) => type === 'output' && EXTENSION[kind].test(filename))
    .map(({ filename, subfolder, type }) => ({ filename, subfolder: subfolder ?? '', type }));
}

/** The data of the last event of a name among the run's messages. */
export function eventOf({ status }: HistoryEntry, name: string): Record<string, unknown> | null {
  const event = status?.messages?.findLast((message) => Array.isArray(message) && message[0] === name);
  return event ? (((event as unknown[])[1] as Record<string, unknown> | null) ?? {}) : null;
}

function isFile(item: unknown): item is OutputFile {
  const { filename, type } = (item ?? {}) as Partial<OutputFile>;
  return typeof filename === 'string' && typeof type === 'string';
}
