import sharp from 'sharp';

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
  const { default: h264 } = await import('h264-mp4-encoder');
  const encoder = await h264.createH264MP4Encoder();
  encoder.width = width;
  encoder.height = height;
  encoder.frameRate = 1;
  encoder.speed = 10;
  encoder.initialize();
  const frame = new Uint8Array((width * height * 3) / 2).fill(128);
  for (let second = 0; second < seconds; second++) encoder.addFrameYuv(frame);
  encoder.finalize();
  const bytes = Buffer.from(encoder.FS.readFile(encoder.outputFilename, { encoding: 'binary' }) as Uint8Array);
  encoder.delete();
  return bytes;
}
