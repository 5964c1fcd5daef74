import type { MediaKind } from './media-kind.ts';

/** The first recommendation of each kind: of a façade whose client names none, and the first in lists. */
export const DEFAULT_MODEL: Readonly<Record<MediaKind, string>> = { image: 'gpt-image-2', video: 'sora-2' };
