import type { MediaKind } from './media-kind.ts';

/** The default model of each kind. OpenAI's routes use it when the client names no model, and lists show it first. */
export const DEFAULT_MODEL: Readonly<Record<MediaKind, string>> = { image: 'gpt-image-2', video: 'sora-2' };
