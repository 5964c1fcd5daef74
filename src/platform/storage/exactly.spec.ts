import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { exactly } from './exactly.ts';

const source = (...parts: string[]) => Readable.from(parts.map((part) => Buffer.from(part)));

describe('exactly', () => {
  it('passes on what has the expected length', async () => {
    expect(String(await buffer(exactly(source('ab', 'cde'), 5)))).toBe('abcde');
    expect(await buffer(exactly(source(), 0))).toHaveLength(0);
  });

  it.each([
    ['fewer', source('ab'), 3],
    ['more', source('ab', 'cd'), 3],
    ['none', source(), 1],
  ])('fails with %s bytes', async (_, bytes, expected) => {
    await expect(buffer(exactly(bytes, expected))).rejects.toThrow(`another number of bytes than ${expected}`);
    expect(bytes.destroyed).toBe(true);
  });

  it('fails as the source does, and ends the source with its reader', async () => {
    const broken = new Readable({ read: () => void broken.destroy(new Error('cut')) });
    await expect(buffer(exactly(broken, 1))).rejects.toThrow('cut');
    const left = new Readable({ read: () => undefined });
    exactly(left, 1).destroy();
    await new Promise((resolve) => left.once('close', resolve));
  });
});
