import { each, type NewestFirst, type Secrets } from '../config/secrets.ts';

const ID_LENGTH = 8;

/**
 * The channels of this deployment. Their names derive from SECRET_KEY, so that staging and production on one Redis do
 * not receive each other's events. A process publishes on the channel of its newest key and listens on all, so that
 * processes hear each other while a key is replaced. A name has only letters, digits and `_`: it is part of a LISTEN
 * statement.
 */
export function channelsOf(secrets: Secrets): NewestFirst<string> {
  return each(
    secrets.deriveAll('events-channel'),
    (derived) => `darkroom_events_${derived.toString('hex').slice(0, ID_LENGTH)}`,
  );
}
