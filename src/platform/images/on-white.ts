import type { Sharp } from 'sharp';

/** JPEG has no transparency. */
export const onWhite = (image: Sharp): Sharp => image.flatten({ background: '#ffffff' });
