import type { MediaKind } from './media-kind.ts';
import type { Config } from '../platform/config.ts';
import type { ParametersSchema } from './parameters.ts';
import type { SizeTable } from './sizes.ts';

export const MODEL_STATUSES = ['active', 'deprecated', 'retired'] as const;

/** Where a model stands in its life. A retired one is refused at creation; its replacement is named. */
export interface Lifecycle {
  status: (typeof MODEL_STATUSES)[number];
  /** Unix seconds since when the model is deprecated; null for an active one. */
  deprecated_at: number | null;
  /** Unix seconds at which the model is to be retired; null while no end is announced. */
  sunset_at: number | null;
  /** Id of the model to use instead. */
  replacement: string | null;
}

/** What can be made: a logical id that configuration binds to a provider. One file a model in `catalog/`. */
export interface Model {
  id: string;
  kind: MediaKind;
  owned_by: string;
  /** Unix seconds: when the model joined this catalogue. */
  created: number;
  description: string;
  /** Validates a creation request, is served by /v1/models, and holds every allowed value, default and bound. */
  parameters: ParametersSchema;
  /** Pixels of every `aspect_ratio` but `auto` in every `resolution`. */
  sizes: SizeTable;
  lifecycle: Lifecycle;
}

/** The lifecycle of a model with no end in sight. */
export const ACTIVE: Lifecycle = { status: 'active', deprecated_at: null, sunset_at: null, replacement: null };

/** Seconds from creation by which a task of this kind is final. */
export function deadlineS(kind: MediaKind, config: Pick<Config, 'taskDeadlineImageS' | 'taskDeadlineVideoS'>): number {
  return kind === 'image' ? config.taskDeadlineImageS : config.taskDeadlineVideoS;
}
