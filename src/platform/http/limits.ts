/** Bounds of one HTTP request, and of all at once. Overridden by tests only. */
export interface HttpLimits {
  /** Contract: 1 MiB. */
  bodyBytes: number;
  /** Request line and headers together; Node's own default, said here because 431 depends on it. */
  headerBytes: number;
  /** From the first byte (or the connection) to the end of the headers. */
  headersTimeoutMs: number;
  /** From the first byte to the end of the body. With the interval: cut within 40 s (contract, section 4). */
  requestTimeoutMs: number;
  /** How often the two above are looked at. */
  timeoutCheckMs: number;
  /** Requests that are in and not answered, long polls included; more are refused with 503. */
  requestsAtOnce: number;
  /** The bodies of those, together. */
  bodyBytesAtOnce: number;
  /** Of bodies that are still coming in; past that the one longest on its way is refused with 503. */
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
