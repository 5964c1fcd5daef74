import sharp from 'sharp';
import { FilmEncoder } from '../../../src/sandbox/film-encoder.ts';
import { writeMp4 } from '../../../src/sandbox/mp4.ts';

/** A PNG that decodes; each shade has another colour. */
export async function paint(width: number, height: number, shade: number): Promise<Buffer> {
  const background = { r: (shade * 53) % 256, g: (shade * 97) % 256, b: 200 };
  return sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
}

const films = new Map<string, Promise<Buffer>>();

/** An MP4 that decodes, with one frame per second. */
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
