import { createWriteStream } from 'node:fs';
import { type FileHandle, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { allocateOwned } from '../../platform/run/owned-bytes.ts';
import type { Piece } from './byte-source.ts';

/** Bytes of one read and one write: with 64 kB a video took three times as long. */
const STEP_BYTES = 1024 * 1024;

/** The caller owns the bytes. */
export function joinPieces(original: Buffer, pieces: Piece[]): Buffer {
  const parts = pieces.map((piece) => (Buffer.isBuffer(piece) ? piece : original.subarray(piece.from, piece.to)));
  const joined = allocateOwned(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(joined, at);
  return joined;
}

/** Writes a new file that holds the pieces. It leaves none behind when it fails. */
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
