import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { UploadPlace } from './upload-room.ts';

/** A file as it was received, in the scratch folder of its request. */
export interface ScratchFile {
  path: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

interface Target {
  path: string;
  place: UploadPlace;
  signal: AbortSignal;
}

/** Writes a stream to a new file and hashes it on the way. The stream waits while the disk is busy. */
export async function writeScratchFile(
  source: Readable | AsyncIterable<Buffer>,
  { path, place, signal }: Target,
  check: (bytes: number) => void = () => undefined,
): Promise<ScratchFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  const measure = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      check(bytes);
      place.add(chunk.length);
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(source, measure, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
  return { path, bytes, sha256: hash.digest('hex') };
}
