import { type FileHandle, rm } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { allocateOwned } from '../../platform/run/owned-bytes.ts';

/** The most bytes of one read. With 64 kB, a video took three times as long. */
const STEP_BYTES = 1024 * 1024;

/** Joins the pieces into new bytes, which the caller owns. */
export function joinPieces(original: Buffer, pieces: Piece[]): Buffer {
  const parts = pieces.map((piece) => (Buffer.isBuffer(piece) ? piece : original.subarray(piece.from, piece.to)));
  const joined = allocateOwned(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(joined, at);
  return joined;
}

/** Writes a new file that holds the pieces. Leaves no file behind when it fails. */
export async function writePieces(original: FileHandle, pieces: Piece[], target: string): Promise<void> {
  try {
    await pipeline(stepsOf(original, pieces), createWriteStream(target, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

async function* stepsOf(original: FileHandle, pieces: Piece[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      yield piece;
      continue;
    }
    for (let at = piece.from; at < piece.to;) {
      const length = Math.min(STEP_BYTES, piece.to - at);
      const { buffer, bytesRead } = await original.read(Buffer.allocUnsafe(length), 0, length, at);
      if (bytesRead === 0) throw new Error('the file became shorter while it was marked');
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }
}

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

/**
 * The fewest bytes of one read, except at the end. One read covers the headers of several neighbouring parts, because a
 * PNG may have thousands of parts.
 */
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
