import type { Endpoint } from './webhooks.documents.ts';

export type Health = 'healthy' | 'failing' | 'disabled' | 'untried';

/**
 * The health of an endpoint, from its answers. An endpoint that hangs counts as failing only after the time limit of
 * its first attempt.
 */
export function healthOf({ status, failingSince, stats }: Pick<Endpoint, 'status' | 'failingSince' | 'stats'>): Health {
  if (status !== 'ENABLED') return 'disabled';
  if (failingSince !== null) return 'failing';
  return stats.lastAttemptedAt === null ? 'untried' : 'healthy';
}
