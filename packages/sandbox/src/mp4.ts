import type { EncodedFrame, ParameterSets } from './film-encoder.ts';
import { FRAME_SAMPLES, silenceOf, SOUND_CONFIG, SOUND_RATE } from './silence.ts';

// H.264 level 6.0, for films with more macroblocks than level 5.1 allows. The encoder declares at most level 5.1.
const LEVEL_6 = 60;
const LEVEL_5_1_MACROBLOCKS = 36_864;
/** The duration of one frame in time units. */
const FRAME_TICKS = 512;
/** The language code "und" (undetermined), five bits a letter. */
const NO_LANGUAGE = 0x55c4;
/** 72 dots an inch, as a fixed-point number in 1/65536. */
const RESOLUTION = 0x480000;
/** The matrix that does not transform the picture. */
const IDENTITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

interface Film {
  size: { width: number; height: number };
  framesPerSecond: number;
  /** The first frame is a key frame. */
  frames: EncodedFrame[];
  /** Whether to add a silent sound track. */
  hasSound?: boolean;
}

/** The data of one track for the index, which is the box `moov`. */
interface Track {
  id: number;
  /** Time units in a second, and the track's duration in these units. */
  scale: number;
  duration: number;
  /** The type and the name of the track's handler. */
  handler: string;
  name: string;
  /** The media header of the track's type, and the description of the track's samples. */
  header: Buffer;
  description: Buffer;
  /** The length of each sample in bytes. Each sample lasts `sampleTicks`; only the final one may be shorter. */
  sizes: number[];
  sampleTicks: number;
  /** Numbers (from 1) of the samples at which playback can begin; null: at any sample. */
  keys: number[] | null;
  /** The size of the picture in pixels. */
  size: { width: number; height: number };
  volume: number;
}

/**
 * Writes an MP4 without a library (docs/decisions/0013-mp4-boxes-by-hand.md). The index comes first, so that playback
 * can start before the download ends. There are no dates, so that the same film has the same bytes.
 * @returns the file in pieces, in order
 */
export function writeMp4(film: Film): Uint8Array[] {
  const ftyp = box('ftyp', text('isom'), u32(0x200), text('isomiso2avc1mp41'));
  // The sound comes first. It is small, so a player that reads from the start has it with the first frame.
  const media = [...soundOf(film), ...film.frames.map(({ bytes }) => bytes)];
  const mediaBytes = media.reduce((sum, { length }) => sum + length, 0);
  const header = 8; // bytes of the header of the box `mdat`, which contains the media data
  // The index has the same length for every position of the media data.
  const mediaStart = ftyp.length + moov(film, 0).length + header;
  return [ftyp, moov(film, mediaStart), Buffer.concat([u32(header + mediaBytes), text('mdat')]), ...media];
}

const soundOf = ({ frames, framesPerSecond, hasSound }: Film): Uint8Array[] =>
  hasSound ? silenceOf(frames.length / framesPerSecond) : [];

function moov(film: Film, mediaStart: number): Buffer {
  const sound = soundOf(film);
  const soundBytes = sound.reduce((sum, { length }) => sum + length, 0);
  const scale = film.framesPerSecond * FRAME_TICKS;
  const duration = film.frames.length * FRAME_TICKS;
  const tracks = [
    trak(pictureTrack(film, { scale, duration }), { movieDuration: duration, mediaStart: mediaStart + soundBytes }),
    ...(sound.length > 0 ? [trak(soundTrack(sound, duration / scale), { movieDuration: duration, mediaStart })] : []),
  ];
  const next = tracks.length + 1;
  return box(
    'moov',
    box('mvhd', u32(0, 0, 0, scale, duration, 0x10000), u16(0x100, 0), u32(0, 0, ...IDENTITY), u32(0, 0, 0, 0, 0, 0, next)),
    ...tracks,
  ); // prettier-ignore
}

function pictureTrack({ size, frames }: Film, { scale, duration }: { scale: number; duration: number }): Track {
  const parameters = frames[0]?.parameters;
  if (!parameters) throw new Error('a film must begin with a key frame');
  return {
    id: 1,
    scale,
    duration,
    handler: 'vide',
    name: 'VideoHandler',
    header: box('vmhd', u32(1), u16(0, 0, 0, 0)),
    description: avc1(size, parameters),
    sizes: frames.map(({ bytes }) => bytes.length),
    sampleTicks: FRAME_TICKS,
    keys: frames.flatMap((frame, i) => (frame.parameters ? [i + 1] : [])),
    size,
    volume: 0,
  };
}

function soundTrack(sound: Uint8Array[], seconds: number): Track {
  return {
    id: 2,
    scale: SOUND_RATE,
    duration: Math.round(seconds * SOUND_RATE),
    handler: 'soun',
    name: 'SoundHandler',
    header: box('smhd', u32(0, 0)),
    description: mp4a(),
    sizes: sound.map(({ length }) => length),
    sampleTicks: FRAME_SAMPLES,
    keys: null,
    size: { width: 0, height: 0 },
    volume: 0x100,
  };
}

function trak(track: Track, { movieDuration, mediaStart }: { movieDuration: number; mediaStart: number }): Buffer {
  const { id, scale, duration, handler, name, header, size, volume } = track;
  return box(
    'trak',
    box('tkhd', u32(3, 0, 0, id, 0, movieDuration, 0, 0), u16(0, 0, volume, 0), u32(...IDENTITY), u32(size.width * 0x10000, size.height * 0x10000)),
    box(
      'mdia',
      box('mdhd', u32(0, 0, 0, scale, duration), u16(NO_LANGUAGE, 0)),
      box('hdlr', u32(0, 0), text(handler), u32(0, 0, 0), text(`${name}\0`)),
      box('minf', header, box('dinf', box('dref', u32(0, 1), box('url ', u32(1)))), stbl(track, mediaStart)),
    ),
  ); // prettier-ignore
}

function stbl({ description, sizes, sampleTicks, duration, keys }: Track, mediaStart: number): Buffer {
  const count = sizes.length;
  const lastTicks = duration - (count - 1) * sampleTicks;
  const times = lastTicks === sampleTicks ? [1, count, sampleTicks] : [2, count - 1, sampleTicks, 1, lastTicks];
  return box(
    'stbl',
    box('stsd', u32(0, 1), description),
    box('stts', u32(0, ...times)),
    ...(keys ? [box('stss', u32(0, keys.length, ...keys))] : []),
    box('stsc', u32(0, 1, 1, count, 1)), // one chunk
    box('stsz', u32(0, 0, count, ...sizes)),
    box('stco', u32(0, 1, mediaStart)),
  );
}

/**
 * The sample description of AAC with one channel, in the descriptors of MPEG-4: a stream, its decoder, and the
 * decoder's configuration.
 */
function mp4a(): Buffer {
  const specific = descriptor(5, SOUND_CONFIG);
  const decoder = descriptor(4, Buffer.of(0x40, 0x15, 0, 0, 0), u32(0, 0), specific); // AAC, an audio stream
  const stream = descriptor(3, u16(2), Buffer.of(0), decoder, descriptor(6, Buffer.of(2)));
  const fields = [u16(0, 0, 0, 1), u32(0, 0), u16(1, 16, 0, 0), u32(SOUND_RATE * 0x10000)];
  return box('mp4a', ...fields, box('esds', u32(0), stream));
}

function descriptor(tag: number, ...content: Uint8Array[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.of(tag, length), ...content]);
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
