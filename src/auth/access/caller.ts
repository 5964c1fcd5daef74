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
  /** The maximum number of running tasks. Further tasks wait in `queued`. */
  maxRunning: number;
  /** The maximum number of queued tasks. Further tasks are rejected with `queue_full`. */
  maxQueued: number;
  /** The maximum size of all stored uploads, in bytes. Further uploads are rejected with `file_quota_exceeded`. */
  maxFileBytes: number;
  /**
   * The maximum size of all stored files that came inside requests, in bytes. Further files are rejected with
   * `file_quota_exceeded`.
   */
  maxRequestFileBytes: number;
  /**
   * The maximum size of all kept outputs, in bytes. Kept outputs do not expire. Keeping more is rejected with
   * `kept_quota_exceeded`.
   */
  maxKeptBytes: number;
  /** 1 to 100. While tasks of several keys wait, a key with twice the weight gets twice as much time of the workers. */
  weight: number;
  /** Days that the record of a task is kept, from the creation of the task. Never longer than configured. */
  taskRetentionDays: number;
  /**
   * Days that the files of a task are kept, from the end of the task. Never longer than configured, or than the record.
   */
  fileRetentionDays: number;
}

/**
 * The rate limit that a request counts against. `create`: routes with `@CountsAs('create')`, such as creations. `read`:
 * all other routes.
 */
export type RateBucket = 'create' | 'read';

export interface CallerBound {
  apiKeyId: string;
  limits: Readonly<Partial<CallerLimits>>;
  /** Whether the key has a budget of its own. */
  hasBudget: boolean;
}

/** The API key that authenticated a request. It is the tenant that owns tasks, files, limits and webhooks. */
export interface Caller {
  /** `key_…` */
  apiKeyId: string;
  scopes: readonly Scope[];
  limits: CallerLimits;
  /**
   * Whether the key, or a key above it, has a budget. Creations of the key then reserve their cost. Only the database
   * knows how much of the budget is left.
   */
  hasBudget: boolean;
  /**
   * The keys above this key (its maker, the maker's maker and so on) that have limits of their own. The requests, tasks
   * and files of this key count against these limits too. Missing: none.
   */
  bounds?: readonly CallerBound[];
  /**
   * Lists of the models that the key may use: its own, and those of the keys above it. A model must be in each list. An
   * entry is an id, or the beginning of one followed by `*`. Missing: every model without `access: listed`.
   */
  models?: readonly (readonly string[])[];
  /** `sess_…`, for a browser that signed in with the key. */
  sessionId?: string;
}
