import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { film as filmOf } from '../../../test/support/stubs/media.ts';
import { probe } from './probe.ts';

const box = (type: string, content: Buffer) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
};
const FTYP = box('ftyp', Buffer.from('mp42\0\0\0\0mp42isom'));
const MIB = 1024 * 1024;

const causeOf = async (film: Buffer | { path: string }): Promise<string> => {
  try {
    await probe(film);
  } catch (error) {
    return ((error as Error).cause as Error).message;
  }
  throw new Error('It was accepted.');
};

const u32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => bytes.writeUInt32BE(value, 4 * at));
  return bytes;
};
/** A fragment of this many samples, without a byte for any of them. */
const fragment = (samples: number) => {
  const track = Buffer.concat([box('tfhd', u32(0x20000, 1)), box('tfdt', u32(0, 0)), box('trun', u32(0, samples))]);
  return box('moof', Buffer.concat([box('mfhd', u32(0, 1)), box('traf', track)]));
};

describe('probing a film', () => {
  let film: Buffer;
  beforeAll(async () => {
    film = await filmOf(64, 64, 1);
  });

  it.each([
    ['as it is', (bytes: Buffer) => bytes],
    ['with bytes after its last box', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('\r\n')])],
    ['with zeros after its last box', (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(1_000)])],
    [
      'with other boxes',
      (bytes: Buffer) => Buffer.concat([bytes, box('uuid', Buffer.alloc(40_000)), box('free', Buffer.alloc(0))]),
    ],
  ])('reads one %s', async (_, changed) => {
    expect(await probe(changed(film))).toMatchObject({
      type: 'video',
      contentType: 'video/mp4',
      width: 64,
      height: 64,
    });
  });

  it('refuses one with too large an index, without reading it', async () => {
    const large = Buffer.concat([FTYP, box('moov', Buffer.alloc(17 * MIB)), box('mdat', Buffer.alloc(10))]);
    expect(await causeOf(large)).toContain('too large an index');
    const fragments = Array.from({ length: 17 }, () => box('moof', Buffer.alloc(MIB)));
    expect(await causeOf(Buffer.concat([FTYP, ...fragments]))).toContain('too large an index');
    const folder = await mkdtemp(join(tmpdir(), 'probe-'));
    await writeFile(join(folder, 'film'), large);
    expect(await causeOf({ path: join(folder, 'film') })).toContain('too large an index');
    await rm(folder, { recursive: true });
  });

  it('refuses one that announces too much', async () => {
    expect(await causeOf(Buffer.concat([film, fragment(1_000_001)]))).toContain('too large an index');
    const twice = [fragment(500_001), fragment(500_001)];
    expect(await causeOf(Buffer.concat([film, ...twice]))).toContain('too large an index');
    const table = Buffer.concat([u32(20 * MIB), Buffer.from('mfra'), Buffer.alloc(20 * MIB - 12), u32(20 * MIB)]);
    expect(await causeOf(Buffer.concat([film, box('mdat', table)]))).toContain('too large an index');
  });

  it('refuses one with too many boxes', async () => {
    const many = Array.from({ length: 10_001 }, () => box('free', Buffer.alloc(0)));
    expect(await causeOf(Buffer.concat([FTYP, ...many]))).toContain('too large an index');
  });

  it('reads no pictures, however many bytes they have', async () => {
    const wide = Buffer.concat([u32(1), Buffer.from('mdat'), u32(0, 16 + 20 * MIB)]);
    expect(await probe(Buffer.concat([film, wide, Buffer.alloc(20 * MIB)]))).toMatchObject({ width: 64 });
  });
});
