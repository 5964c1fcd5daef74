import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';

// Both free the pixels after their use. Garbage collection would let 64 MB of them pile up in each thread.

/** Hands out all pixels of a canvas as RGBA. */
export function withPixels(context: SKRSContext2D, use: (rgba: Uint8ClampedArray) => void): void {
  const { width, height } = context.canvas;
  const { data } = context.getImageData(0, 0, width, height);
  use(data);
  (data.buffer as ArrayBuffer).transfer(0);
}

/** Hands out all pixels of a canvas as premultiplied RGBA. */
export function withPremultiplied<T>(canvas: Canvas, use: (rgba: Uint8Array) => T): T {
  const data = canvas.data();
  const used = use(data);
  (data.buffer as ArrayBuffer).transfer(0);
  return used;
}
