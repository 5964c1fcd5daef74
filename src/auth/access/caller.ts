/** What an API key may do. */
export const SCOPES = [
  'generations:write',
  'tasks:read',
  'tasks:cancel',
  'webhooks:manage',
  'keys:manage',
  'operations:read',
  'operations:manage',
] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * The effective limits of one API key: its own values, and the configured defaults for the rest. 0 = no limit, except
 * for the weight and the retentions.
 */
export interface CallerLimits {
  createsPerMinute: number;
  readsPerMinute: number;
  /** Tasks running at once. Further tasks wait in `queued`. */
  maxRunning: number;
  /** Tasks queued at once. Further tasks are rejected with `queue_full`. */
  maxQueued: number;
  /** Bytes of uploads stored at once. Further uploads are rejected with `file_quota_exceeded`. */
  maxFileBytes: number;
  /** Bytes of files that came inside requests, stored at once. Further ones are rejected with `file_quota_exceeded`. */
  maxRequestFileBytes: number;
  /** Bytes of outputs that are kept at once. Further ones are rejected with `kept_quota_exceeded`. */
  maxKeptBytes: number;
  /** How much time of the workers its tasks get while those of several keys wait, 1 to 100: twice the weight, twice the time. */
  weight: number;
  /** Days that the record of a task is kept, from its creation. Never longer than configured. */
  taskRetentionDays: number;
  /** Days that its files are kept, from its end. Never longer than configured, or than the record. */
  fileRetentionDays: number;
}

/** The limit that a request counts against: creating a generation, or any other request with a key. */
export type RateBucket = 'create' | 'read';

export interface CallerBound {
  apiKeyId: string;
  limits: Readonly<Partial<CallerLimits>>;
  /** Whether it has a budget of its own. */
  hasBudget: boolean;
}

/** The API key that sent a request. It is the tenant that owns tasks, files, limits and webhooks. */
export interface Caller {
  /** `key_…` */
  apiKeyId: string;
  scopes: readonly Scope[];
  limits: CallerLimits;
  /**
   * Whether it, or a key above it, has a budget: its creations then reserve their cost. Only the database knows how
   * much of the budget is left.
   */
  hasBudget: boolean;
  /**
   * The keys that made it or its maker: its requests, tasks and files count for these too, within the limits of their
   * own. Missing: none.
   */
  bounds?: readonly CallerBound[];
  /**
   * The ids, exact or ending in `*`, of the models that it may use: its own list, and those of the keys that made it or
   * its maker. A model has to be in each. Missing: every open model.
   */
  models?: readonly (readonly string[])[];
  /** `sess_…`, for a browser that signed in with the key. */
  sessionId?: string;
}
