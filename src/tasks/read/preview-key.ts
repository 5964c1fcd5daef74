/** Pixels of the longest side. */
export const PREVIEW_WIDTHS = [256, 512, 1024] as const;
export type PreviewWidth = (typeof PREVIEW_WIDTHS)[number];

export const isPreviewWidth = (width: number): width is PreviewWidth => PREVIEW_WIDTHS.includes(width as PreviewWidth);

/**
 * The storage key of a preview. It is in the folder of its task, so that the preview is deleted with the other files.
 */
export const previewKeyOf = (taskId: string, index: number, width: PreviewWidth): string =>
  `${taskId}/preview-${index}-${width}.webp`;
