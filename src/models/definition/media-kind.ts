import { defineChoice } from '../../platform/schema/choice.ts';

/** What a model makes, and thus the kind of its tasks and files. */
export const MEDIA_KINDS = ['image', 'video'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

export const MediaKindChoice = defineChoice('MediaKind', MEDIA_KINDS, 'What a model makes.');
