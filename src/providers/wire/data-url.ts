import type { InputImage } from '../provider.ts';

/** The image in the request itself: an upstream never sees the client's URL, nor needs to reach us. */
export function dataUrl({ contentType, bytes }: InputImage): string {
  return `data:${contentType};base64,${bytes.toString('base64')}`;
}

/** Bytes the images take in a request as data URLs, less the few of their prefixes. */
export function encodedBytes(images: readonly InputImage[]): number {
  return images.reduce((sum, { bytes }) => sum + Math.ceil(bytes.length / 3) * 4, 0);
}
