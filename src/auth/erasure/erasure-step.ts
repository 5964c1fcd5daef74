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
 * The steps of a round, in this order. Requests and tasks that were under way at the revocation may still write. So
 * rounds are repeated for at least a minute, and until no step of a round erases anything or returns `waits`.
 */
export const ROUND_STEPS = ['sessions', 'shares', 'tasks', 'uploads', 'batches'] as const;
/**
 * The steps that run once, in this order, when no new data of the key can arrive any more. Most of them read a whole
 * table, because no index leads to the rows of a key.
 */
export const LAST_STEPS = ['calls', 'webhook_events', 'webhook_endpoints', 'usage', 'audit_events'] as const;
export type LastStep = (typeof LAST_STEPS)[number];
export type StepName = (typeof ROUND_STEPS)[number] | LastStep;
