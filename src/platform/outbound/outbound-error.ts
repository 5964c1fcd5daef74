/**
 * - `blocked_address`: an address, port or scheme that may not be called, at any hop; nothing was sent
 * - `dns_failure`: the name has no address, or nobody answered for it
 * - `connect_failed`: no connection, or it broke, or spoke no HTTP, before the answer was complete
 * - `tls_error`: no trusted TLS session for this name
 * - `timeout`: the whole answer was not there in time
 * - `http_status`: for callers, who alone know which statuses are failures to them
 * - `too_large`: more bytes than the caller takes
 * - `redirect_loop`: more redirects than the caller follows
 */
export type OutboundErrorKind =
  | 'blocked_address'
  | 'dns_failure'
  | 'connect_failed'
  | 'tls_error'
  | 'timeout'
  | 'http_status'
  | 'too_large'
  | 'redirect_loop';

/** A call to somebody's server failed. `kind` may be shown to a client; message and cause are for the operator's log. */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind;

  constructor(kind: OutboundErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'OutboundError';
    this.kind = kind;
  }
}
