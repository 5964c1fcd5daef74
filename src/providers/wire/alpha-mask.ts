import { loadSharp } from '../../platform/images/load-sharp.ts';
import type { InputImage } from '../contract/provider.ts';

/** The mask as OpenAI reads it: black, and transparent where the image changes. PNG. */
export async function alphaMask({ path }: InputImage): Promise<Buffer> {
  const sharp = loadSharp();
  const { data, info } = await sharp(path).extractChannel(0).raw().toBuffer({ resolveWithObject: true });
  const rgba = Buffer.alloc(data.length * 4);
  for (let at = 0; at < data.length; at += 1) rgba[at * 4 + 3] = 255 - data[at]!;
  return sharp(rgba, { raw: { width: info.width, height: info.height, channels: 4 } })
    .png()
    .toBuffer();
}
