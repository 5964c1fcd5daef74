import type { Endpoint } from './webhooks.documents.ts';

export type Health = 'healthy' | 'failing' | 'disabled' | 'untried';

/** Told by what the endpoint answered. One that hangs fails only when its first attempt has run out of time. */
export function healthOf({ status, failingSince, stats }: Pick<Endpoint, 'status' | 'failingSince' | 'stats'>): Health {
  if (status !== 'ENABLED') return 'disabled';
  if (failingSince !== null) return 'failing';
  return stats.lastAttemptedAt === null ? 'untried' : 'healthy';
}
