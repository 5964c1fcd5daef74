import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

describe('probing a film', () => {
  it('refuses one with too large an index, without reading it', async () => {
    const large = Buffer.concat([FTYP, box('moov', Buffer.alloc(9 * MIB)), box('mdat', Buffer.alloc(10))]);
    expect(await causeOf(large)).toContain('too large an index');
    const fragments = Array.from({ length: 9 }, () => box('moof', Buffer.alloc(MIB)));
    expect(await causeOf(Buffer.concat([FTYP, ...fragments]))).toContain('too large an index');
    const folder = await mkdtemp(join(tmpdir(), 'probe-'));
    await writeFile(join(folder, 'film'), large);
    expect(await causeOf({ path: join(folder, 'film') })).toContain('too large an index');
    await rm(folder, { recursive: true });
  });

  it('refuses one with too many boxes, or with a broken one', async () => {
    const many = Array.from({ length: 10_001 }, () => box('free', Buffer.alloc(0)));
    expect(await causeOf(Buffer.concat([FTYP, ...many]))).toContain('too large an index');
    const broken = box('moov', Buffer.alloc(8));
    broken.writeUInt32BE(4);
    expect(await causeOf(Buffer.concat([FTYP, broken]))).toContain('a broken box');
    expect(await causeOf(Buffer.concat([FTYP, Buffer.from('abc')]))).toContain('a broken box');
  });

  it('reads no pictures, however many bytes they have', async () => {
    const wide = Buffer.alloc(16);
    wide.writeUInt32BE(1);
    wide.write('mdat', 4, 'latin1');
    wide.writeBigUInt64BE(16n + BigInt(20 * MIB), 8);
    const film = Buffer.concat([FTYP, wide, Buffer.alloc(20 * MIB)]);
    expect(await causeOf(film)).not.toMatch(/index|box/); // it has no track
  });
});
