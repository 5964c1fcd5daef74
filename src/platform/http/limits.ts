/** Limits of one HTTP request, and of all requests together. Only tests override them. */
export interface HttpLimits {
  /** 1 MiB, as docs/api/errors.md promises. */
  bodyBytes: number;
  /** Request line and headers together. Node's own default; explicit here because 431 depends on it. */
  headerBytes: number;
  /** From the first byte (or the connection) to the end of the headers. */
  headersTimeoutMs: number;
  /** From the first byte to the end of the body. With `timeoutCheckMs` a slow request is cut within 40 s. */
  requestTimeoutMs: number;
  /** How often the two timeouts are checked. */
  timeoutCheckMs: number;
  /** Requests in flight, long polls included; more get 503. */
  requestsAtOnce: number;
  /** The bodies of the requests in flight, together. */
  bodyBytesAtOnce: number;
  /** Bodies still being received, together; over the limit the oldest upload gets 503. */
  incomingBytesAtOnce: number;
}

export const HTTP_LIMITS: Readonly<HttpLimits> = Object.freeze({
  bodyBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 2_000,
  requestsAtOnce: 10_000,
  bodyBytesAtOnce: 256 * 1024 * 1024,
  incomingBytesAtOnce: 64 * 1024 * 1024,
});
