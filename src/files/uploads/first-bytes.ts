import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { truncate } from 'node:fs/promises';
import type { ScratchFile } from '../../platform/http/multipart/scratch-file.ts';
import type { StorageBody } from '../../platform/storage/storage.ts';

/** Where the bytes of a file are: in memory, or in a scratch file that the caller deletes. */
export type FileSource = Buffer | ScratchFile;

/** The first `bytes` bytes of a source, with their hash. Cuts off the rest of a scratch file. */
export async function firstBytesOf(source: FileSource, bytes: number): Promise<{ body: StorageBody; sha256: string }> {
  const hash = createHash('sha256');
  if (Buffer.isBuffer(source)) {
    const body = source.subarray(0, bytes);
    return { body, sha256: hash.update(body).digest('hex') };
  }
  const { path } = source;
  if (bytes === source.bytes) return { body: { path }, sha256: source.sha256 };
  await truncate(path, bytes);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return { body: { path }, sha256: hash.digest('hex') };
}
