const MAX_SNIPPET_BYTES = 4096;

/** The start of a response as text, for the log: at most 4 kB, no partial characters, no NUL (PostgreSQL rejects it). */
export function snippetOf(body: Buffer): string | null {
  if (body.length === 0) return null;
  // Truncated twice, because decoding makes bytes that are not UTF-8 longer.
  return truncate(Buffer.from(truncate(body).replaceAll('\0', '\ufffd')));
}

/** `stream` drops a character that is cut in two. */
function truncate(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_SNIPPET_BYTES), { stream: true });
}
