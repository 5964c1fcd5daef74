import type { StoredOutput } from '../../tasks/record/task.entity.ts';
import type { PreviewWidth } from '../../tasks/read/preview-key.ts';

/**
 * The key of the file that a preview is made from: the image itself, or the still of a video. undefined for a video
 * without a still.
 */
export const sourceKeyOf = ({ type, storage_key, thumbnail_key }: StoredOutput): string | undefined =>
  type === 'image' ? storage_key : thumbnail_key;

/** In pixels. The longest side is the smaller of `width` and the longest side of the output. */
export function previewSizeOf(output: { width: number; height: number }, width: PreviewWidth) {
  const scale = Math.min(1, width / Math.max(output.width, output.height));
  const scaled = (side: number): number => Math.max(1, Math.round(side * scale));
  return { width: scaled(output.width), height: scaled(output.height) };
}
