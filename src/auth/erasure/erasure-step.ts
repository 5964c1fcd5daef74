/** What an erasure counts. */
export const ERASED = [
  'tasks',
  'files',
  'uploads',
  'shares',
  'idempotency_keys',
  'calls',
  'batches',
  'webhook_endpoints',
  'webhook_events',
  'webhook_deliveries',
  'usage_records',
  'sessions',
  'audit_events',
] as const;
export type Erased = (typeof ERASED)[number];
export type ErasureCounts = Partial<Record<Erased, number>>;

/**
 * Repeated in this order until none of them finds anything: what was under way when the key was revoked may still
 * arrive.
 */
export const ROUND_STEPS = ['sessions', 'shares', 'tasks', 'uploads', 'batches'] as const;
/**
 * Run once, in this order, when nothing can arrive any more. Most of them read a whole table, because no index leads to
 * the rows of a key.
 */
export const LAST_STEPS = ['calls', 'webhook_events', 'webhook_endpoints', 'usage', 'audit_events'] as const;
export type LastStep = (typeof LAST_STEPS)[number];
export type StepName = (typeof ROUND_STEPS)[number] | LastStep;
