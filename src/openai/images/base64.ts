import type { Readable } from 'node:stream';

/**
 * Encodes chunk by chunk. Three bytes become four characters. So one or two bytes may be left of a chunk, and are
 * encoded with the first bytes of the next one. Joining them to the whole next chunk would copy nearly every byte of a
 * large answer.
 */
export async function* toBase64(file: Readable): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of file as AsyncIterable<Buffer>) {
    const start = rest.length > 0 ? Math.min(3 - rest.length, chunk.length) : 0;
    if (start > 0) rest = Buffer.concat([rest, chunk.subarray(0, start)]);
    if (rest.length === 3) {
      yield rest.toString('base64');
      rest = Buffer.alloc(0);
    }
    const end = chunk.length - ((chunk.length - start) % 3);
    if (end > start) yield chunk.toString('base64', start, end);
    if (end < chunk.length) rest = Buffer.from(chunk.subarray(end));
  }
  if (rest.length > 0) yield rest.toString('base64');
}
