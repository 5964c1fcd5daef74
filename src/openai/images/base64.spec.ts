import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { toBase64 } from './base64.ts';

it.each([1, 2, 3, 4, 5, 7, 64, 1000])('Base64 of chunks of up to %i bytes is that of the whole', async (size) => {
  for (let length = 0; length < 100; length += 1) {
    const bytes = randomBytes(length);
    const chunks: Buffer[] = [];
    for (let at = 0; at < length;) chunks.push(bytes.subarray(at, (at += 1 + ((at * 7) % size))));
    const text = (await Readable.from(toBase64(Readable.from(chunks))).toArray()).join('');
    expect(text).toBe(bytes.toString('base64'));
  }
});
