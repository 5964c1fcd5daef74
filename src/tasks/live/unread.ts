import type { ServerResponse } from 'node:http';

/**
 * A client gets a ping at least every 15 s. If no bytes leave for this time, the client has read nothing for minutes.
 */
const UNREAD_MS = 120_000;

/**
 * Hangs up when the client reads nothing for minutes, because its connection and its queue would be kept in vain. The
 * timeout of the socket restarts whenever bytes leave, which happens only while the client reads.
 */
export function hangUpWhenUnread(response: ServerResponse, ms: number = UNREAD_MS): void {
  response.setTimeout(ms, () => response.destroy());
}
