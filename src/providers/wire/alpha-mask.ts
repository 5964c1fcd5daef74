import { writeFile } from 'node:fs/promises';
import { type InputImage, ProviderError, type ProviderRequest } from '../contract/provider.ts';

/** OpenAI accepts only masks that are smaller than this. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The mask in OpenAI's form: a black PNG that is transparent where the image changes.
 * @throws ProviderError reference_image_invalid when the PNG is too large
 */
export async function alphaMask({ path }: InputImage): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const { data, info } = await sharp(path).extractChannel(0).raw().toBuffer({ resolveWithObject: true });
  const rgba = Buffer.alloc(data.length * 4);
  for (let at = 0; at < data.length; at += 1) rgba[at * 4 + 3] = 255 - data[at]!;
  const png = await sharp(rgba, { raw: { width: info.width, height: info.height, channels: 4 } })
    .png()
    .toBuffer();
  if (png.length < MAX_BYTES) return png;
  throw new ProviderError('reference_image_invalid', {
    param: 'mask',
    message: 'The mask is too detailed to be sent.',
  });
}

/**
 * The request with its mask in the form that the binding declares. A mask in OpenAI's form is written into a file
 * beside the original. If nothing has to change, this is the given request.
 */
export async function withDeclaredMask(request: ProviderRequest): Promise<ProviderRequest> {
  const { images, upstream } = request;
  if (!images.mask || upstream.declared?.mask !== 'alpha') return request;
  const png = await alphaMask(images.mask);
  const path = `${images.mask.path}.alpha`;
  await writeFile(path, png);
  return { ...request, images: { ...images, mask: { ...images.mask, path, size: png.length } } };
}
