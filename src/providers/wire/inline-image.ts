import { randomUUID } from 'node:crypto';
import type { InputImage } from '../contract/provider.ts';

/**
 * An image inside a JSON body, as base64. The JSON contains a token, which `streamJson` replaces while the body is
 * sent.
 */
export class InlineImage {
  /** The token cannot be guessed, so no text of a client can contain it. */
  readonly token = `inline-image-${randomUUID()}`;

  constructor(
    readonly image: InputImage,
    readonly prefix = '',
  ) {}
}

/**
 * The image as a data: URL inside the request. So the upstream does not see the client's URL, and need not reach this
 * service.
 */
export function dataUrl(image: InputImage): InlineImage {
  return new InlineImage(image, `data:${image.contentType};base64,`);
}

/** Size of the images as base64, in bytes. */
export function encodedBytes(images: readonly InputImage[]): number {
  return images.reduce((sum, { size }) => sum + Math.ceil(size / 3) * 4, 0);
}
