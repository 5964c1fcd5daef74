import type { ServerResponse } from 'node:http';

/**
 * The longest time in which no bytes leave a stream. A stream sends a ping at least every 15 s, so the client has read
 * nothing for minutes then.
 */
const UNREAD_MS = 120_000;

/**
 * Hangs up when the client reads nothing for minutes, because its connection and its queue would be kept in vain. The
 * timeout of the socket restarts whenever bytes leave, which happens only while the client reads.
 */
export function hangUpWhenUnread(response: ServerResponse, ms: number = UNREAD_MS): void {
  response.setTimeout(ms, () => response.destroy());
}
