import type { ServerResponse } from 'node:http';

/** A client gets a ping every 15 s at least. So without progress for this time, it has read nothing for minutes. */
const UNREAD_MS = 120_000;

/**
 * Hangs up when the client reads nothing for minutes, because the connection and its queue would be kept for nothing.
 * The timeout of the socket restarts whenever bytes leave, which needs a client that reads them.
 */
export function hangUpWhenUnread(response: ServerResponse, ms: number = UNREAD_MS): void {
  response.setTimeout(ms, () => response.destroy());
}
