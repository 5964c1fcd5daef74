import type { ServerResponse } from 'node:http';

/** A reader gets a ping every 15 s at least, so without progress for this time it has not read for minutes. */
const UNREAD_MS = 120_000;

/**
 * Hangs up when the client reads nothing for minutes: the connection and the queue behind it would be kept for nothing.
 * The timeout of the socket restarts with every write and whenever the client accepts some bytes.
 */
export function hangUpWhenUnread(response: ServerResponse, ms: number = UNREAD_MS): void {
  response.setTimeout(ms, () => response.destroy());
}
