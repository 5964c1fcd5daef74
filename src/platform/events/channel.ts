import type { Secrets } from '../secrets.ts';

const ID_LENGTH = 8;

/**
 * The channel of this deployment. Its name derives from SECRET_KEY, so that staging and production on one Redis do not
 * receive each other's events, and all processes of a deployment use the same one. Letters, digits and `_` only: the
 * name is part of a LISTEN statement.
 */
export function channelOf(secrets: Secrets): string {
  return `darkroom_events_${secrets.derive('events-channel').toString('hex').slice(0, ID_LENGTH)}`;
}
