/**
 * - `blocked_address`: an address, port or scheme that may not be called, at any hop; nothing was sent there
 * - `dns_failure`: the name has no address, or no DNS server answered
 * - `connect_failed`: no connection, a connection that broke before the answer was complete, or an answer that is not
 *   HTTP
 * - `tls_error`: no trusted TLS session for this name
 * - `timeout`: the answer was not complete in time
 * - `http_status`: set by callers, which decide which statuses are failures
 * - `too_large`: more bytes than the caller accepts
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

/**
 * A call to an external server failed. `kind` may be shown to a client; message and cause are for the operator's log.
 */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind;

  constructor(kind: OutboundErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'OutboundError';
    this.kind = kind;
  }
}
