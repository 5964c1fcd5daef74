/** What can happen to a task. The first, `started` and the final ones follow from other columns and are not stored. */
export const MOMENT_TYPES = [
  'queued',
  'held',
  'released',
  'started',
  'references_ready',
  'submitting',
  'accepted',
  'refused',
  'worker_lost',
  'taken_over',
  'storing',
  'succeeded',
  'failed',
  'cancel_requested',
] as const;
export type MomentType = (typeof MOMENT_TYPES)[number];

/** Why a started task may not go on: its provider is full or away, or paused by an operator. */
export type HoldReason = 'provider_limit' | 'pause';

/** As stored in the row of its task, in this order so that it stays short. */
export type Moment = [atMs: number, type: MomentType, attempt: number, provider: string | null, detail: string | null];

/** Moments of one timeline; of a longer one the middle goes. */
export const MAX_MOMENTS = 200;

export const isHeld = (timeline: readonly Moment[] | null): boolean => timeline?.at(-1)?.[1] === 'held';
