/** Boxes that contain only boxes. */
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);
// H.264 level 6.0. The encoder declares at most 5.1, which ends at 36,864 macroblocks.
const LEVEL_6 = 60;
const LEVEL_5_1_MACROBLOCKS = 36_864;

interface Box {
  type: string;
  /** Content without the header; empty for a container. */
  data: Buffer;
  children: Box[];
}

/**
 * Prepares the encoder's MP4 for serving, by hand (docs/decisions/0013-mp4-boxes-by-hand.md):
 * - The index moves before the media data, so that playback can start before the download ends.
 * - Key frames are listed. The encoder lists none, so a player would treat every frame as one and seek into garbage.
 * - Colours are declared as BT.709.
 * - Dates are cleared, so that the same film has the same bytes.
 * @returns the file in pieces, in order
 */
export function finishMp4(raw: Uint8Array): Buffer[] {
  const file = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const top = parse(file);
  const ftyp = requireBox(top, 'ftyp');
  const moov = requireBox(top, 'moov');
  const mdat = requireBox(top, 'mdat');
  const mdia = requireBox(requireBox(moov.children, 'trak').children, 'mdia');
  const stbl = requireBox(requireBox(mdia.children, 'minf').children, 'stbl');

  for (const box of [
    requireBox(moov.children, 'mvhd'),
    requireBox(requireBox(moov.children, 'trak').children, 'tkhd'),
    requireBox(mdia.children, 'mdhd'),
  ]) {
    box.data.fill(0, 4, 12); // version 0: creation and modification time, 32 bits each
  }
  completeDescription(requireBox(stbl.children, 'stsd'));
  stbl.children.push(keyFrameTable(mdat.data, requireBox(stbl.children, 'stsz').data));

  const offsets = requireBox(stbl.children, 'stco').data;
  const shift = sizeOf(ftyp) + sizeOf(moov) + 8 - (mdat.data.byteOffset - file.byteOffset);
  for (let at = 8; at < offsets.length; at += 4) offsets.writeUInt32BE(offsets.readUInt32BE(at) + shift, at);
  return [...write(ftyp), ...write(moov), ...write(mdat)];
}

function parse(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > bytes.length) throw new Error('the encoder wrote an invalid box');
    const type = bytes.toString('latin1', at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + size);
    const container = CONTAINERS.has(type);
    boxes.push({ type, data: container ? Buffer.alloc(0) : data, children: container ? parse(data) : [] });
    at += size;
  }
  return boxes;
}

function requireBox(boxes: Box[], type: string): Box {
  const box = boxes.find((candidate) => candidate.type === type);
  if (!box) throw new Error(`the encoder wrote no ${type} box`);
  return box;
}

/** Sets level and colours in the sample description. It has one entry, avc1: 78 bytes of fixed fields, then boxes. */
function completeDescription(stsd: Box): void {
  const entry = Buffer.from(stsd.data.subarray(8));
  const fields = 8 + 78;
  const macroblocks = Math.ceil(entry.readUInt16BE(8 + 24) / 16) * Math.ceil(entry.readUInt16BE(8 + 26) / 16);
  const avcC = requireBox(parse(entry.subarray(fields)), 'avcC').data;
  // The level is in avcC, and again in the sequence parameter set, after 6 bytes of header, length and NAL type.
  if (macroblocks > LEVEL_5_1_MACROBLOCKS) avcC[3] = avcC[11] = LEVEL_6;
  const colr: Box = { type: 'colr', data: Buffer.from([...Buffer.from('nclx'), 0, 1, 0, 1, 0, 1, 0]), children: [] };
  const extended = Buffer.concat([entry, ...write(colr)]);
  extended.writeUInt32BE(extended.length, 0);
  stsd.data = Buffer.concat([stsd.data.subarray(0, 8), extended]);
}

/** Builds stss: the numbers, from 1, of the samples with an IDR slice (NAL type 5). Samples are stored without gaps. */
function keyFrameTable(media: Buffer, stsz: Buffer): Box {
  const count = stsz.readUInt32BE(8);
  const numbers: number[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const end = at + stsz.readUInt32BE(12 + 4 * i);
    let key = false;
    while (at < end) {
      key ||= ((media[at + 4] ?? 0) & 31) === 5;
      at += 4 + media.readUInt32BE(at);
    }
    if (at !== end) throw new Error('the encoder wrote invalid samples');
    if (key) numbers.push(i + 1);
  }
  const data = Buffer.alloc(8 + 4 * numbers.length);
  data.writeUInt32BE(numbers.length, 4);
  for (const [i, number] of numbers.entries()) data.writeUInt32BE(number, 8 + 4 * i);
  return { type: 'stss', data, children: [] };
}

function sizeOf(box: Box): number {
  return 8 + box.data.length + box.children.reduce((sum, child) => sum + sizeOf(child), 0);
}

function write(box: Box): Buffer[] {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(sizeOf(box), 0);
  header.write(box.type, 4, 'latin1');
  return [header, box.data, ...box.children.flatMap(write)];
}
