import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { FilmEncoder } from '../../../packages/sandbox/src/film-encoder.ts';
import { writeMp4 } from '../../../packages/sandbox/src/mp4.ts';

/** A PNG that can be decoded. Each shade has another colour. */
export async function paint(width: number, height: number, shade: number): Promise<Buffer> {
  const background = { r: (shade * 53) % 256, g: (shade * 97) % 256, b: 200 };
  return sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
}

/** Like `paint`, but with one bit per pixel, so that a large picture takes only some milliseconds. */
export function blank(width: number, height: number, shade: number): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0]); // one bit per pixel, with a palette
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const pixels = Buffer.alloc((1 + Math.ceil(width / 8)) * height);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('PLTE', Buffer.from([(shade * 53) % 256, (shade * 97) % 256, 200])),
    pngChunk('IDAT', deflateSync(pixels, { level: 1 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

const films = new Map<string, Promise<Buffer>>();

/** An MP4 that can be decoded, with one frame per second. */
export function film(width: number, height: number, seconds: number): Promise<Buffer> {
  const name = `${width}x${height}x${seconds}`;
  const made = films.get(name) ?? encodeFilm(width, height, seconds);
  films.set(name, made);
  return made;
}

async function encodeFilm(width: number, height: number, seconds: number): Promise<Buffer> {
  const encoder = new FilmEncoder({ size: { width, height }, scale: 1, letters: new Uint8Array(), coverRows: 0 });
  encoder.restart();
  encoder.scene.fill(128);
  encoder.compose(0, height, 0, false);
  const frames = Array.from({ length: seconds }, () => encoder.encode());
  return Buffer.concat(writeMp4({ size: { width, height }, framesPerSecond: 1, frames }));
}
