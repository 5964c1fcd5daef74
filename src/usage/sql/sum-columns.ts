/** The numbers of a sum. Each is SQL over a row `l` of the ledger. */
export const NUMBERS = {
  tasks: '1',
  succeeded: `(l.outcome = 'succeeded')::int`,
  failed: `(l.outcome = 'failed')::int`,
  cancelled: `(l.outcome = 'cancelled')::int`,
  images: 'l.images',
  video_seconds: 'l.video_seconds',
  submits: 'l.submits',
  cost_micros: 'l.cost_micros',
  assumed_micros: `case when l.basis = 'assumed' then l.cost_micros else 0 end`,
  unpriced_tasks: `(l.basis = 'unpriced')::int`,
};
export type UsageNumber = keyof typeof NUMBERS;
export const NUMBER_NAMES = Object.keys(NUMBERS) as UsageNumber[];

/** The names as a list of columns: `tasks, succeeded, …` */
export const NUMBER_LIST = NUMBER_NAMES.join(', ');

/** What a sum can be grouped by, besides the API key and metadata. */
export const DIMENSIONS = ['kind', 'model', 'provider', 'resolution', 'source', 'batch_id', 'error_code'] as const;
