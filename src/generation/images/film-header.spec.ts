import { memorySource } from '../../provenance/formats/byte-source.ts';
import { film as sandboxFilm } from '../../../test/support/stubs/media.ts';
import { readFilmHeader } from './film-header.ts';

const u32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => bytes.writeUInt32BE(value, 4 * at));
  return bytes;
};
const box = (name: string, ...content: Buffer[]) => {
  const bytes = Buffer.concat(content);
  return Buffer.concat([u32(8 + bytes.length), Buffer.from(name, 'latin1'), bytes]);
};
const FTYP = box('ftyp', Buffer.from('mp42\0\0\0\0mp42isom'));
const VERSION_1 = 0x0100_0000;
const [ONE, UNKNOWN] = [0x1_0000, 0xffff_ffff];
const UPRIGHT = [ONE, 0, 0, 0, ONE, 0, 0, 0, 0x4000_0000];
const QUARTER = [0, ONE, 0, -ONE >>> 0, 0, 0, 0, 0, 0x4000_0000];

/** An index of 640x360 in 90,000 units a second, whose movie counts in 1,000. */
function moov(given: { duration?: number; matrix?: number[]; handler?: string; mvex?: Buffer[] } = {}): Buffer {
  const { duration = 2_500, matrix = UPRIGHT, handler = 'vide', mvex = [] } = given;
  return box(
    'moov',
    box('mvhd', u32(0, 0, 0, 1_000, duration), Buffer.alloc(80)),
    box('trak', box('mdia', box('hdlr', u32(0, 0), Buffer.from('soun')))),
    box(
      'trak',
      box('tkhd', u32(3, 0, 0, 7, 0, 0, 0, 0, 0, 0, ...matrix, 640 * ONE, 360 * ONE)),
      box('mdia', box('mdhd', u32(0, 0, 0, 90_000, 0, 0)), box('hdlr', u32(0, 0), Buffer.from(handler))),
    ),
    ...(mvex.length > 0 ? [box('mvex', ...mvex)] : []),
  );
}
const TREX = box('trex', u32(0, 7, 1, 3_000, 0, 0));
const fragment = (...traf: Buffer[]) => box('moof', box('mfhd', u32(0, 1)), box('traf', ...traf));

const read = (...boxes: Buffer[]) => readFilmHeader(memorySource(Buffer.concat([FTYP, ...boxes])));

describe('the header of a film', () => {
  it('gives the size and the duration', async () => {
    expect(await readFilmHeader(memorySource(await sandboxFilm(64, 48, 3)))).toEqual({
      width: 64,
      height: 48,
      duration: 3,
    });
    expect(await read(box('mdat', Buffer.alloc(500)), moov())).toEqual({ width: 640, height: 360, duration: 2.5 });
  });

  it('gives the size as it is shown', async () => {
    expect(await read(moov({ matrix: QUARTER }))).toMatchObject({ width: 360, height: 640 });
  });

  it('reads fields of 8 bytes', async () => {
    const long = box(
      'moov',
      box('mvhd', u32(VERSION_1, 0, 0, 0, 0, 1_000, 0, 7_000)),
      box(
        'trak',
        box('tkhd', u32(VERSION_1, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, ...UPRIGHT, 640 * ONE, 360 * ONE)),
        box('mdia', box('mdhd', u32(VERSION_1, 0, 0, 0, 0, 90_000, 0, 0)), box('hdlr', u32(0, 0), Buffer.from('vide'))),
      ),
    );
    expect(await read(long)).toEqual({ width: 640, height: 360, duration: 7 });
    const wide = Buffer.concat([u32(1), Buffer.from('mdat'), u32(0, 16 + 50), Buffer.alloc(50)]);
    expect(await read(wide, long)).toMatchObject({ duration: 7 });
  });

  describe('of one in fragments', () => {
    it('takes the duration of the whole, if it is stated', async () => {
      expect(await read(moov({ duration: 0, mvex: [box('mehd', u32(0, 4_000)), TREX] }))).toMatchObject({
        duration: 4,
      });
    });

    it('adds up samples of the usual duration', async () => {
      const first = fragment(box('tfhd', u32(0, 7)), box('trun', u32(0, 30)));
      const second = fragment(box('tfhd', u32(0xa, 7, 1, 6_000)), box('trun', u32(0x1, 15, 0)));
      expect(await read(moov({ duration: UNKNOWN, mvex: [TREX] }), first, second)).toMatchObject({ duration: 2 });
    });

    it('adds up samples that have a duration each, from the time that the fragment states', async () => {
      const table = u32(0x301, 2, 0, 45_000, 11, 90_000, 12);
      const last = fragment(
        box('tfhd', u32(0x1, 7, 0, 0)),
        box('tfdt', u32(VERSION_1, 0, 900_000)),
        box('trun', table),
      );
      const sound = fragment(box('tfhd', u32(0x8, 9, 1_000_000)), box('trun', u32(0, 100)));
      expect(await read(moov({ duration: 700, mvex: [TREX] }), last, sound)).toMatchObject({ duration: 11.5 });
    });

    it('reads no more of a table than it has', async () => {
      const lying = fragment(box('tfhd', u32(0, 7)), box('trun', u32(0x100, UNKNOWN, 90_000, 90_000)));
      expect(await read(moov({ duration: 0, mvex: [TREX] }), lying)).toMatchObject({ duration: 2 });
    });
  });

  it('lists no samples, however many a small file announces', async () => {
    const announcing = fragment(box('tfhd', u32(0x8, 7, 1)), box('trun', u32(0, UNKNOWN)));
    const { duration } = await read(moov({ mvex: [TREX] }), announcing, announcing);
    expect(duration).toBe((2 * UNKNOWN) / 90_000);
  });

  it.each([
    ['no video track', () => [moov({ handler: 'soun' })]],
    ['no index', () => [box('mdat', Buffer.alloc(500))]],
    ['an index of zeros', () => [box('moov', Buffer.alloc(1_000))]],
  ])('is refused when it has %s', async (_, boxes) => {
    await expect(read(...boxes())).rejects.toThrow('without a video track');
  });

  it('is refused when it has too many boxes, at the top or inside', async () => {
    const many = Buffer.concat(Array.from({ length: 100_000 }, () => box('free')));
    await expect(read(many, moov())).rejects.toThrow('too large an index');
    await expect(read(box('moov', many))).rejects.toThrow('too large an index');
  });

  it('is refused when its tables are too large', async () => {
    const run = box('trun', u32(0x100, 1), Buffer.alloc(9 * 1024 * 1024));
    const large = fragment(box('tfhd', u32(0, 7)), run);
    expect(await read(moov({ mvex: [TREX] }), large)).toMatchObject({ duration: 2.5 });
    await expect(read(moov({ mvex: [TREX] }), large, large)).rejects.toThrow('too large an index');
  });
});
