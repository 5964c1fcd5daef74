import type { FileHandle } from 'node:fs/promises';

/** Random access to the bytes of an output, in memory or on disk. */
export interface ByteSource {
  readonly size: number;
  /** Returns fewer bytes at the end of the file. */
  read(at: number, length: number): Promise<Buffer>;
}

/** A part of the marked file: new bytes, or a range of the original, `to` exclusive. */
export type Piece = Buffer | { from: number; to: number };

export function memorySource(bytes: Buffer): ByteSource {
  return { size: bytes.length, read: async (at, length) => bytes.subarray(at, at + length) };
}

/** Headers of neighbouring parts come from one read: a PNG may have thousands. */
const WINDOW_BYTES = 16 * 1024;

export function fileSource(file: FileHandle, size: number): ByteSource {
  let window: Buffer = Buffer.alloc(0);
  let windowAt = 0;
  return {
    size,
    read: async (at, length) => {
      if (at < windowAt || at + length > windowAt + window.length) {
        const wanted = Math.max(0, Math.min(Math.max(length, WINDOW_BYTES), size - at));
        const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, at);
        window = buffer.subarray(0, bytesRead);
        windowAt = at;
      }
      return window.subarray(at - windowAt, at - windowAt + length);
    },
  };
}
