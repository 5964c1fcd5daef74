import type { InputImage } from '../provider.ts';

/** The image as part of the request: the upstream neither sees the client's URL nor has to reach this service. */
export function dataUrl({ contentType, bytes }: InputImage): string {
  return `data:${contentType};base64,${bytes.toString('base64')}`;
}

/** Size of the images as data URLs, in bytes, without their short prefixes. */
export function encodedBytes(images: readonly InputImage[]): number {
  return images.reduce((sum, { bytes }) => sum + Math.ceil(bytes.length / 3) * 4, 0);
}
