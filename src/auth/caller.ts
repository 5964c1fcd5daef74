/** What an API key may do. */
export const SCOPES = ['generations:write', 'tasks:read', 'tasks:cancel', 'webhooks:manage', 'keys:manage'] as const;
export type Scope = (typeof SCOPES)[number];

/** The bounds of one API key, its own overrides already laid over the configured defaults. 0 = no limit. */
export interface CallerLimits {
  createsPerMinute: number;
  readsPerMinute: number;
  /** Tasks running at once; more wait in `queued`. */
  maxRunning: number;
  /** Tasks queued at once; more are refused with `queue_full`. */
  maxQueued: number;
}

/** Who asks: the API key behind a request. It is the tenant that tasks, files, limits and webhooks belong to. */
export interface Caller {
  /** `key_…` */
  apiKeyId: string;
  scopes: readonly Scope[];
  limits: CallerLimits;
}
