import { Unmarkable } from '../xmp/unmarkable.ts';
import type { ByteSource, Piece } from './byte-source.ts';
import type { PacketOf } from './packet-of.ts';

/** Flags of the VP8X header (RFC 9649, 2.7). */
const HAS_XMP = 0x04;
const HAS_ALPHA = 0x10;
/** The most chunks that are read. An animation has one for each frame. */
const MAX_CHUNKS = 100_000;

interface Chunk {
  type: string;
  at: number;
  /** The offset after the content and its padding to an even length. */
  end: number;
  /** The bytes of the content, without padding. */
  length: number;
}

/**
 * Replaces the XMP chunk. Without one, adds an XMP chunk behind all other chunks. A file without a VP8X header becomes
 * an extended file, which has one.
 */
export async function webpWithXmp(file: ByteSource, packetOf: PacketOf): Promise<Piece[]> {
  const chunks = await readChunks(file);
  if (chunks.some(({ type }) => type === 'C2PA')) throw new Unmarkable('signed', 'C2PA');
  const [first] = chunks as [Chunk, ...Chunk[]];
  const old = chunks.find(({ type }) => type === 'XMP ');
  const xmp = xmpChunk(packetOf(old ? await file.read(old.at + 8, old.length) : null));
  const riffEnd = chunks.at(-1)!.end;
  const extended: Piece[] =
    first.type === 'VP8X'
      ? await withXmpFlag(file, first)
      : [vp8xChunk(await simpleFormat(file, first)), { from: first.at, to: first.end }];
  const body: Piece[] = old
    ? [...extended, { from: first.end, to: old.at }, xmp, { from: old.end, to: riffEnd }]
    : [...extended, { from: first.end, to: riffEnd }, xmp];
  const length = 4 + body.reduce((sum, piece) => sum + sizeOf(piece), 0);
  const header = Buffer.from('RIFF\0\0\0\0WEBP');
  header.writeUInt32LE(length, 4);
  return [header, ...body, { from: riffEnd, to: file.size }];
}

const sizeOf = (piece: Piece): number => (Buffer.isBuffer(piece) ? piece.length : piece.to - piece.from);

/** @throws Unmarkable */
async function readChunks(file: ByteSource): Promise<Chunk[]> {
  const header = await file.read(0, 12);
  if (header.toString('latin1', 0, 4) !== 'RIFF' || header.toString('latin1', 8, 12) !== 'WEBP') {
    throw new Unmarkable('malformed', 'no WebP signature');
  }
  const riffEnd = 8 + header.readUInt32LE(4);
  const chunks: Chunk[] = [];
  let at = 12;
  while (at + 8 <= riffEnd && chunks.length < MAX_CHUNKS) {
    const bytes = await file.read(at, 8);
    if (bytes.length < 8) break;
    const length = bytes.readUInt32LE(4);
    const end = at + 8 + length + (length % 2);
    chunks.push({ type: bytes.toString('latin1', 0, 4), at, end, length });
    at = end;
  }
  if (chunks.length === 0 || at !== riffEnd || riffEnd > file.size) {
    throw new Unmarkable('malformed', 'the chunks of the WebP do not fill it');
  }
  return chunks;
}

async function withXmpFlag(file: ByteSource, vp8x: Chunk): Promise<Piece[]> {
  const flags = Buffer.from(await file.read(vp8x.at + 8, 1));
  if (vp8x.length < 10) throw new Unmarkable('malformed', 'the VP8X header is too short');
  flags[0]! |= HAS_XMP;
  return [{ from: vp8x.at, to: vp8x.at + 8 }, flags, { from: vp8x.at + 9, to: vp8x.end }];
}

interface Canvas {
  width: number;
  height: number;
  hasAlpha: boolean;
}

/**
 * Size and alpha of a file that has one chunk: lossy (RFC 6386, 9.1) or lossless (RFC 9649, 3.4).
 * @throws Unmarkable
 */
async function simpleFormat(file: ByteSource, { type, at, length }: Chunk): Promise<Canvas> {
  const bytes = await file.read(at + 8, Math.min(length, 10));
  if (type === 'VP8 ' && bytes.length === 10 && bytes.toString('hex', 3, 6) === '9d012a') {
    return { width: bytes.readUInt16LE(6) & 0x3fff, height: bytes.readUInt16LE(8) & 0x3fff, hasAlpha: false };
  }
  if (type === 'VP8L' && bytes.length >= 5 && bytes[0] === 0x2f) {
    const bits = bytes.readUInt32LE(1);
    const hasAlpha = ((bits >>> 28) & 1) === 1;
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff), hasAlpha };
  }
  throw new Unmarkable('malformed', 'the WebP begins with neither VP8, VP8L nor VP8X');
}

function vp8xChunk({ width, height, hasAlpha }: Canvas): Buffer {
  const chunk = Buffer.alloc(18);
  chunk.write('VP8X', 0, 'latin1');
  chunk.writeUInt32LE(10, 4);
  chunk[8] = HAS_XMP | (hasAlpha ? HAS_ALPHA : 0);
  chunk.writeUIntLE(width - 1, 12, 3);
  chunk.writeUIntLE(height - 1, 15, 3);
  return chunk;
}

function xmpChunk(packet: Buffer): Buffer {
  const chunk = Buffer.alloc(8 + packet.length + (packet.length % 2));
  chunk.write('XMP ', 0, 'latin1');
  chunk.writeUInt32LE(packet.length, 4);
  packet.copy(chunk, 8);
  return chunk;
}
