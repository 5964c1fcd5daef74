import { Unmarkable } from '../xmp/unmarkable.ts';
import { MAX_PACKET_BYTES } from '../xmp/packet.ts';
import type { ByteSource, Piece } from './byte-source.ts';
import type { PacketOf } from './packet-of.ts';

const XMP = Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex');
const C2PA = Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex');
/** The most boxes that are read. A fragmented MP4 has two for each fragment. */
const MAX_BOXES = 100_000;

interface Box {
  type: string;
  at: number;
  end: number;
  /** The bytes of size, type and extended type. */
  headerLength: number;
  /** The extended type of a `uuid` box; null for any other box. */
  uuid: Buffer | null;
  /** Whether the size is written as 0, which means up to the end of the file. */
  isOpen: boolean;
}

/**
 * Adds the packet at the end, in a `uuid` box. Nothing that `moov` or `moof` points to moves, so no offset changes. An
 * old packet becomes free space where it is.
 */
export async function mp4WithXmp(file: ByteSource, packetOf: PacketOf): Promise<Piece[]> {
  const boxes = await readBoxes(file);
  if (boxes.some(({ uuid }) => uuid?.equals(C2PA))) throw new Unmarkable('signed', 'uuid');
  const old = boxes.find(({ uuid }) => uuid?.equals(XMP));
  const last = boxes.at(-1)!;
  const box = xmpBox(packetOf(old ? await readPacket(file, old) : null));
  // Readers find the index of fragments from the end of the file, so the index stays at the end.
  const at = last.type === 'mfra' ? last.at : file.size;
  const freed = old ? freeing(old, at) : [{ from: 0, to: at }];
  return [...(last.isOpen ? closing(freed, last) : freed), box, { from: at, to: file.size }];
}

/** The file up to `end`, with this box as free space. */
const freeing = (box: Box, end: number): Piece[] => [
  { from: 0, to: box.at + 4 },
  Buffer.from('free'),
  { from: box.at + 8, to: end },
];

/** Writes the size of the last box, which would otherwise contain the new box behind it. @throws Unmarkable */
function closing(pieces: Piece[], { at, end }: Box): Piece[] {
  if (end - at >= 2 ** 32) throw new Unmarkable('no_room', 'the last box is larger than its size can say');
  const size = Buffer.alloc(4);
  size.writeUInt32BE(end - at);
  return pieces.flatMap((piece) => {
    if (Buffer.isBuffer(piece) || piece.from > at || piece.to < at + 4) return [piece];
    return [{ from: piece.from, to: at }, size, { from: at + 4, to: piece.to }];
  });
}

/** @returns at least one box. @throws Unmarkable */
async function readBoxes(file: ByteSource): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = 0; at < file.size;) {
    const box = await readBox(file, at);
    boxes.push(box);
    if (boxes.length > MAX_BOXES) throw new Unmarkable('malformed', 'the MP4 has too many boxes');
    at = box.end;
  }
  if (!boxes.some(({ type }) => type === 'moov')) throw new Unmarkable('malformed', 'the MP4 has no index');
  return boxes;
}

async function readBox(file: ByteSource, at: number): Promise<Box> {
  const bytes = Buffer.from(await file.read(at, 32));
  if (bytes.length < 8) throw new Unmarkable('malformed', 'the MP4 ends inside a box');
  const shortSize = bytes.readUInt32BE(0);
  const type = bytes.toString('latin1', 4, 8);
  const isLong = shortSize === 1;
  const headerLength = (isLong ? 16 : 8) + (type === 'uuid' ? 16 : 0);
  if (bytes.length < headerLength) throw new Unmarkable('malformed', 'the MP4 ends inside a box');
  const size = isLong ? Number(bytes.readBigUInt64BE(8)) : shortSize === 0 ? file.size - at : shortSize;
  if (size < headerLength || at + size > file.size) throw new Unmarkable('malformed', `a box of ${size} bytes`);
  const uuid = type === 'uuid' ? bytes.subarray(headerLength - 16, headerLength) : null;
  return { type, at, end: at + size, headerLength, uuid, isOpen: shortSize === 0 };
}

async function readPacket(file: ByteSource, { at, end, headerLength }: Box): Promise<Buffer> {
  const length = end - at - headerLength;
  if (length > MAX_PACKET_BYTES) throw new Unmarkable('xmp_unreadable', 'the XMP packet is too large');
  return file.read(at + headerLength, length);
}

function xmpBox(packet: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + XMP.length + packet.length, 0);
  header.write('uuid', 4, 'latin1');
  return Buffer.concat([header, XMP, packet]);
}
