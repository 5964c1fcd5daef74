import type { PassThrough, Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { ArchiveFile } from './archive-files.ts';

const MODE = 0o100644;

/** A zip that is made while it is read. */
export interface Zip {
  /** The size of the whole zip. */
  bytes: number;
  /** Begins to open the files, and returns the bytes of the zip. */
  read(): Readable;
}

/**
 * The zip of some files, without compression, because pictures and films are compressed already. So the size of the zip
 * is known before its first byte. One file is open at a time. The stream is destroyed if a file cannot be opened or
 * read, or has another length than on record.
 */
export function zipOf(files: ArchiveFile[], open: (storageKey: string) => Promise<Readable>): Zip {
  const zip = new ZipFile();
  const stream = zip.outputStream as PassThrough;
  const begun = Promise.withResolvers<void>();
  let source: Readable | undefined;
  const fail = (error: Error): void => void stream.destroy(error);
  zip.on('error', fail);
  stream.on('close', () => source?.destroy());
  const openNext = async (key: string): Promise<Readable> => {
    await begun.promise;
    source = (await open(key)).once('error', fail);
    if (stream.destroyed) source.destroy();
    return source;
  };
  for (const { name, content, modifiedAt } of files) {
    const options = { compress: false, size: content.bytes, mtime: modifiedAt, mode: MODE };
    zip.addReadStreamLazy(name, options, (begin) => {
      openNext(content.storageKey).then((opened) => begin(null, opened), fail);
    });
  }
  let bytes = 0;
  zip.end(undefined, (size = 0) => (bytes = size)); // the types of yazl lack the argument `size`
  return {
    bytes,
    read() {
      begun.resolve();
      return stream;
    },
  };
}
