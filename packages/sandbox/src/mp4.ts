import type { EncodedFrame, ParameterSets } from './film-encoder.ts';

// H.264 level 6.0. The encoder declares at most 5.1, which ends at 36,864 macroblocks.
const LEVEL_6 = 60;
const LEVEL_5_1_MACROBLOCKS = 36_864;
/** Units of time a frame lasts. */
const FRAME_TICKS = 512;
/** "und" for undetermined, five bits a letter. */
const NO_LANGUAGE = 0x55c4;
/** 72 dots an inch, in 1/65536. */
const RESOLUTION = 0x480000;
/** The transformation that leaves a picture as it is. */
const IDENTITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

interface Film {
  size: { width: number; height: number };
  framesPerSecond: number;
  /** The first is a key frame. */
  frames: EncodedFrame[];
}

/**
 * An MP4 by hand (docs/decisions/0013-mp4-boxes-by-hand.md). The index comes first, so that playback can start before
 * the download ends. There are no dates, so that the same film has the same bytes.
 * @returns the file in pieces, in order
 */
export function writeMp4(film: Film): Uint8Array[] {
  const ftyp = box('ftyp', text('isom'), u32(0x200), text('isomiso2avc1mp41'));
  const media = film.frames.map(({ bytes }) => bytes);
  const mediaBytes = media.reduce((sum, { length }) => sum + length, 0);
  const header = 8; // of the media data's box
  // The index has the same length wherever the media data begins.
  const mediaStart = ftyp.length + moov(film, 0).length + header;
  return [ftyp, moov(film, mediaStart), Buffer.concat([u32(header + mediaBytes), text('mdat')]), ...media];
}

function moov(film: Film, mediaStart: number): Buffer {
  const { size, framesPerSecond, frames } = film;
  const scale = framesPerSecond * FRAME_TICKS;
  const duration = frames.length * FRAME_TICKS;
  return box(
    'moov',
    box('mvhd', u32(0, 0, 0, scale, duration, 0x10000), u16(0x100, 0), u32(0, 0, ...IDENTITY), u32(0, 0, 0, 0, 0, 0, 2)),
    box(
      'trak',
      box('tkhd', u32(3, 0, 0, 1, 0, duration, 0, 0), u16(0, 0, 0, 0), u32(...IDENTITY), u32(size.width * 0x10000, size.height * 0x10000)),
      box(
        'mdia',
        box('mdhd', u32(0, 0, 0, scale, duration), u16(NO_LANGUAGE, 0)),
        box('hdlr', u32(0, 0), text('vide'), u32(0, 0, 0), text('VideoHandler\0')),
        box('minf', box('vmhd', u32(1), u16(0, 0, 0, 0)), box('dinf', box('dref', u32(0, 1), box('url ', u32(1)))), stbl(film, mediaStart)),
      ),
    ),
  ); // prettier-ignore
}

function stbl({ size, frames }: Film, mediaStart: number): Buffer {
  const parameters = frames[0]?.parameters;
  if (!parameters) throw new Error('a film must begin with a key frame');
  const keys = frames.flatMap((frame, i) => (frame.parameters ? [i + 1] : []));
  return box(
    'stbl',
    box('stsd', u32(0, 1), avc1(size, parameters)),
    box('stts', u32(0, 1, frames.length, FRAME_TICKS)),
    box('stss', u32(0, keys.length, ...keys)),
    box('stsc', u32(0, 1, 1, frames.length, 1)), // one chunk
    box('stsz', u32(0, 0, frames.length, ...frames.map(({ bytes }) => bytes.length))),
    box('stco', u32(0, 1, mediaStart)),
  );
}

function avc1({ width, height }: Film['size'], { sequence, picture }: ParameterSets): Buffer {
  const macroblocks = Math.ceil(width / 16) * Math.ceil(height / 16);
  const levelled = Buffer.from(sequence);
  if (macroblocks > LEVEL_5_1_MACROBLOCKS) levelled[3] = LEVEL_6;
  const [, profile = 0, compatible = 0, level = 0] = levelled;
  const avcC = box(
    'avcC',
    Buffer.of(1, profile, compatible, level, 0xff, 0xe1), // lengths of four bytes, one sequence parameter set
    u16(levelled.length),
    levelled,
    Buffer.of(1),
    u16(picture.length),
    picture,
  );
  const colr = box('colr', text('nclx'), u16(1, 1, 1), Buffer.of(0)); // BT.709 in limited range
  const fields = [u16(0, 0, 0, 1), u32(0, 0, 0, 0), u16(width, height), u32(RESOLUTION, RESOLUTION, 0), u16(1)];
  return box('avc1', ...fields, Buffer.alloc(32), u16(24, 0xffff), avcC, colr);
}

function box(type: string, ...content: Uint8Array[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(length), text(type), ...content], length);
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1');

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, 2 * i);
  return bytes;
}

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i);
  return bytes;
}
