/** Limits of bodies that go to disk as they arrive: forms with files, and files alone. */
export interface UploadLimits {
  /** The whole body of one form. */
  formBytes: number;
  /** One file. */
  fileBytes: number;
  files: number;
  /** Files and text parts together. */
  parts: number;
  /** One text part. */
  textBytes: number;
  /** From the start of the reading to the last byte. */
  totalMs: number;
  /** A client must send at least this much per second, on average over any `paceWindowMs`. */
  bytesPerS: number;
  paceWindowMs: number;
  /** How long the rest of a rejected body is discarded. A client reads the response only if it can go on sending. */
  lingerMs: number;
  /** Uploads in progress in this process; more get 503. */
  atOnce: number;
  /** Uploads in progress of one API key; more get 429. */
  atOnceOfOwner: number;
  /** Bytes of the scratch files of all uploads in progress; more get 503. */
  scratchBytes: number;
  /** Bytes of the scratch files of one API key; more get 429, so that other keys keep room. */
  scratchBytesOfOwner: number;
  /** Memory of one upload: the buffers of the socket, the parser and the file. */
  memoryBytes: number;
}

/** Limits of one HTTP request, and of all requests together. Only tests override them. */
export interface HttpLimits {
  /** 1 MiB, as docs/api/errors.md promises. */
  bodyBytes: number;
  /** Request line and headers together. Node's own default; explicit here because the status 431 depends on it. */
  headerBytes: number;
  /** From the first byte (or the connection) to the end of the headers. */
  headersTimeoutMs: number;
  /**
   * From the first byte to the end of the body. Node checks this every `timeoutCheckMs`, so a slow request may last
   * that much longer.
   */
  requestTimeoutMs: number;
  /** How often `headersTimeoutMs` and `requestTimeoutMs` are checked. */
  timeoutCheckMs: number;
  /**
   * A client that reads nothing of its answer for this time is cut off: it would hold memory, a file and one of
   * `requestsAtOnce`.
   */
  stallMs: number;
  /**
   * Open connections; more are refused. Above three eighths of them, idle ones are closed every second, and the headers
   * of a request may take 2 s. Each takes a file descriptor, and without a free one the process cannot connect to its
   * database.
   */
  connectionsAtOnce: number;
  /** Open connections of one address or IPv6 network of clients; more are refused. */
  connectionsOfAddress: number;
  /** Requests in flight, except event streams and requests for which `stopCounting` was called; more get 503. */
  requestsAtOnce: number;
  /** The bodies of the requests in flight, together. */
  bodyBytesAtOnce: number;
  /** Bodies still being received, together; over the limit the oldest upload gets 503. */
  incomingBytesAtOnce: number;
  /**
   * Bytes of large answers that their clients have not read, together. Over the limit, the oldest connection of the
   * caller with the most such bytes is closed.
   */
  unreadBytesAtOnce: number;
  uploads: UploadLimits;
}

export const HTTP_LIMITS: Readonly<HttpLimits> = Object.freeze({
  bodyBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 2_000,
  stallMs: 120_000,
  connectionsAtOnce: 16_000,
  connectionsOfAddress: 8_000,
  requestsAtOnce: 10_000,
  bodyBytesAtOnce: 256 * 1024 * 1024,
  incomingBytesAtOnce: 64 * 1024 * 1024,
  unreadBytesAtOnce: 128 * 1024 * 1024,
  uploads: Object.freeze({
    formBytes: 100 * 1024 * 1024,
    fileBytes: 20_000_000,
    files: 16,
    parts: 64,
    textBytes: 64 * 1024,
    totalMs: 300_000,
    bytesPerS: 16_000,
    paceWindowMs: 10_000,
    lingerMs: 5_000,
    atOnce: 200,
    atOnceOfOwner: 50,
    scratchBytes: 4 * 1024 * 1024 * 1024,
    scratchBytesOfOwner: 1024 * 1024 * 1024,
    memoryBytes: 512 * 1024,
  }),
});
