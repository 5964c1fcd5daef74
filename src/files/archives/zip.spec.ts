import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ArchiveFile } from './archive-files.ts';
import { zipOf } from './zip.ts';

const file = (name: string, bytes: number) =>
  ({ name, content: { storageKey: name, bytes }, modifiedAt: new Date(1_800_000_000_000) }) as ArchiveFile;
const letters = async (key: string) => Readable.from([Buffer.from(key)]);

describe('a zip', () => {
  it('has the size that it says', async () => {
    const { bytes, read } = zipOf([file('one', 3), file('zwei', 4), file('灯台', 6)], letters);
    const made = await buffer(read());
    expect(made).toHaveLength(bytes);
    for (const text of ['one', 'zwei', '灯台']) expect(made.includes(`${text}PK`)).toBe(true);
  });

  it('knows its size with ZIP64, and opens nothing before it is read', () => {
    const opened: string[] = [];
    const big = 3 * 2 ** 30;
    const { bytes } = zipOf([file('a', big), file('b', big)], async (key) => (opened.push(key), letters(key)));
    expect(bytes).toBeGreaterThan(2 * big);
    expect(bytes).toBeLessThan(2 * big + 1000);
    expect(opened).toEqual([]);
  });

  it.each([
    ['is missing', async () => Promise.reject(new Error('gone'))],
    ['is shorter', async () => Readable.from([Buffer.from('b')])],
    ['breaks', async () => new Readable({ read() { this.destroy(new Error('broken')); } })], // prettier-ignore
  ])('ends in an error when a file %s', async (_, open: () => Promise<Readable>) => {
    const { read } = zipOf([file('one', 3), file('two', 3)], (key) => (key === 'one' ? letters(key) : open()));
    const stream = read();
    await expect(buffer(stream)).rejects.toThrow();
    expect(stream.destroyed).toBe(true);
  });

  it('closes the file that it reads when its reader goes away', async () => {
    const source = new PassThrough();
    const stream = zipOf([file('one', 30), file('two', 3)], async () => source).read();
    const closed = new Promise((resolve) => source.once('close', resolve));
    stream.resume();
    source.write('x');
    stream.on('data', () => stream.destroy());
    await closed;
    expect(source.destroyed).toBe(true);
  });
});
