import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';

/**
 * Frees the memory of pixels at once. Otherwise 64 MB of them pile up in each thread before a garbage collection, and
 * each collection takes a third of the time of a picture.
 */
export function freePixels({ buffer }: Uint8Array | Uint8ClampedArray): void {
  (buffer as ArrayBuffer).transfer(0);
}

/** Passes all pixels of a canvas as RGBA to `use`, and then frees them. */
export function withPixels(context: SKRSContext2D, use: (rgba: Uint8ClampedArray) => void): void {
  const { width, height } = context.canvas;
  const { data } = context.getImageData(0, 0, width, height);
  use(data);
  freePixels(data);
}

/** Passes all pixels of a canvas as premultiplied RGBA to `use`, and then frees them. */
export function withPremultiplied<T>(canvas: Canvas, use: (rgba: Uint8Array) => T): T {
  const data = canvas.data();
  const used = use(data);
  freePixels(data);
  return used;
}
