import { Unmarkable } from '../xmp/unmarkable.ts';
import { withoutPadding } from '../xmp/packet.ts';
import type { ByteSource, Piece } from './byte-source.ts';
import type { PacketOf } from './packet-of.ts';

const APP0 = 0xe0;
const APP1 = 0xe1;
const APP11 = 0xeb;
const START_OF_SCAN = 0xda;
const XMP = Buffer.from('http://ns.adobe.com/xap/1.0/\0');
const EXIF = Buffer.from('Exif\0');
/** The type of the superbox of a C2PA manifest store: `c2pa` and the end that ISO 19566-5 gives to all box types. */
const C2PA = Buffer.from('6332706100110010800000aa00389b71', 'hex');
/** The most bytes of content: the length of a segment counts its own two bytes too. */
const MAX_SEGMENT_BYTES = 65_535 - 2;
/**
 * The most segments and fill bytes that are read before the scan. A file of 128 MB has 2,000 segments of full length.
 */
const MAX_SEGMENTS = 10_000;

interface Segment {
  marker: number;
  at: number;
  /** The offset after the segment. */
  end: number;
  /** The first bytes of the content, at most 60. No identifier is longer. */
  start: Buffer;
}

/** Replaces the XMP segment. Without one, adds an APP1 segment behind JFIF and EXIF, which readers expect first. */
export async function jpegWithXmp(file: ByteSource, packetOf: PacketOf): Promise<Piece[]> {
  const segments = await readSegments(file);
  if (segments.some(({ marker, start }) => marker === APP11 && start.includes(C2PA))) {
    throw new Unmarkable('signed', 'APP11');
  }
  const xmp = segments.find(({ marker, start }) => marker === APP1 && startsWith(start, XMP));
  if (xmp) {
    const packet = await file.read(xmp.at + 4 + XMP.length, xmp.end - xmp.at - 4 - XMP.length);
    return [{ from: 0, to: xmp.at }, xmpSegment(packetOf(packet)), { from: xmp.end, to: file.size }];
  }
  const isFirst = ({ marker, start }: Segment) => marker === APP0 || (marker === APP1 && startsWith(start, EXIF));
  const firstOther = segments.findIndex((segment) => !isFirst(segment));
  const at = segments[firstOther]!.at;
  return [{ from: 0, to: at }, xmpSegment(packetOf(null)), { from: at, to: file.size }];
}

/** The segments up to the first scan, whose header is the last of them. @throws Unmarkable */
async function readSegments(file: ByteSource): Promise<Segment[]> {
  if ((await file.read(0, 2)).toString('hex') !== 'ffd8') throw new Unmarkable('malformed', 'no JPEG signature');
  const segments: Segment[] = [];
  let at = 2;
  for (let reads = 0; reads < MAX_SEGMENTS; reads++) {
    const bytes = await file.read(at, 64);
    if (bytes.length < 4 || bytes[0] !== 0xff) break;
    const marker = bytes[1]!;
    if (marker === 0xff) {
      at += 1; // a fill byte
      continue;
    }
    const length = bytes.readUInt16BE(2);
    const end = at + 2 + length;
    if (length < 2 || end > file.size) break;
    segments.push({ marker, at, end, start: Buffer.from(bytes.subarray(4, Math.min(64, 2 + length))) });
    if (marker === START_OF_SCAN) return segments;
    at = end;
  }
  throw new Unmarkable('malformed', 'the JPEG has no scan');
}

const startsWith = (bytes: Buffer, prefix: Buffer): boolean => bytes.subarray(0, prefix.length).equals(prefix);

function xmpSegment(packet: Buffer): Buffer {
  const max = MAX_SEGMENT_BYTES - XMP.length;
  const fitting = packet.length > max ? withoutPadding(packet) : packet;
  if (fitting.length > max) throw new Unmarkable('no_room', `${fitting.length} bytes of XMP in one JPEG segment`);
  const header = Buffer.from([0xff, APP1, 0, 0]);
  header.writeUInt16BE(2 + XMP.length + fitting.length, 2);
  return Buffer.concat([header, XMP, fitting]);
}
