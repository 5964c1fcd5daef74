import { crc32, inflateSync } from 'node:zlib';
import { Unmarkable } from '../xmp/unmarkable.ts';
import { MAX_PACKET_BYTES } from '../xmp/packet.ts';
import type { ByteSource, Piece } from './byte-source.ts';
import type { PacketOf } from './packet-of.ts';

const SIGNATURE = '89504e470d0a1a0a';
/** Chunks that may contain XMP. The specification wants iTXt; libvips writes zTXt. */
const TEXTS = new Set(['iTXt', 'zTXt', 'tEXt']);
const KEYWORD = Buffer.from('XML:com.adobe.xmp\0');
/** The most chunks that are read. An encoder may write chunks of 8 kB, and the largest result has 128 MB. */
const MAX_CHUNKS = 100_000;

interface Chunk {
  type: string;
  at: number;
  /** The offset after the chunk and its checksum. */
  end: number;
}

/**
 * Replaces the first XMP chunk. Without one, adds an iTXt chunk behind the header, where readers find it before the
 * pixels.
 */
export async function pngWithXmp(file: ByteSource, packetOf: PacketOf): Promise<Piece[]> {
  const chunks = await readChunks(file);
  if (chunks.some(({ type }) => type === 'caBX')) throw new Unmarkable('signed', 'caBX');
  for (const chunk of chunks.filter(({ type }) => TEXTS.has(type))) {
    const text = await readXmp(file, chunk);
    if (text === null) continue;
    return [{ from: 0, to: chunk.at }, xmpChunk(packetOf(text)), { from: chunk.end, to: file.size }];
  }
  const { end } = chunks[0]!;
  return [{ from: 0, to: end }, xmpChunk(packetOf(null)), { from: end, to: file.size }];
}

/** @returns at least IHDR and IEND. @throws Unmarkable */
async function readChunks(file: ByteSource): Promise<Chunk[]> {
  if ((await file.read(0, 8)).toString('hex') !== SIGNATURE) throw new Unmarkable('malformed', 'no PNG signature');
  const chunks: Chunk[] = [];
  for (let at = 8; chunks.length < MAX_CHUNKS;) {
    const header = await file.read(at, 8);
    if (header.length < 8) break;
    const type = header.toString('latin1', 4);
    const end = at + 12 + header.readUInt32BE(0);
    if (end > file.size) break;
    chunks.push({ type, at, end });
    if (chunks[0]!.type !== 'IHDR') break;
    if (type === 'IEND') return chunks;
    at = end;
  }
  throw new Unmarkable('malformed', 'the PNG has no end');
}

/** @returns null when the chunk holds another text */
async function readXmp(file: ByteSource, { type, at, end }: Chunk): Promise<Buffer | null> {
  const start = await file.read(at + 8, KEYWORD.length);
  if (!start.equals(KEYWORD)) return null;
  if (end - at > MAX_PACKET_BYTES) throw new Unmarkable('xmp_unreadable', 'the XMP packet is too large');
  const data = (await file.read(at + 8, end - at - 12)).subarray(KEYWORD.length);
  if (type === 'tEXt') return data;
  if (type === 'zTXt') return inflate(data.subarray(1));
  const language = data.indexOf(0, 2);
  const translation = language === -1 ? -1 : data.indexOf(0, language + 1);
  if (translation === -1) throw new Unmarkable('xmp_unreadable', 'the iTXt chunk has no text');
  const text = data.subarray(translation + 1);
  return data[0] === 1 ? inflate(text) : text;
}

function inflate(bytes: Buffer): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength: MAX_PACKET_BYTES });
  } catch (cause) {
    throw new Unmarkable('xmp_unreadable', `the compressed XMP packet: ${String(cause)}`);
  }
}

/** The chunk is not compressed, as the XMP specification asks: a reader may search a file for the packet. */
function xmpChunk(packet: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from('iTXt'), KEYWORD, Buffer.alloc(4), packet]);
  const chunk = Buffer.alloc(content.length + 8);
  chunk.writeUInt32BE(content.length - 4, 0);
  content.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(content), content.length + 4);
  return chunk;
}
