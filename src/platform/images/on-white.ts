import type { Sharp } from 'sharp';

/** Puts an image on a white background, because JPEG has no transparency. */
export const onWhite = (image: Sharp): Sharp => image.flatten({ background: '#ffffff' });
