const MAX_SNIPPET_BYTES = 4096;

/** The beginning of an answer as text, for the log: at most 4 kB, no half characters, no NUL (PostgreSQL takes none). */
export function snippetOf(body: Buffer): string | null {
  if (body.length === 0) return null;
  // Twice, for bytes that are no UTF-8 become longer.
  return cut(Buffer.from(cut(body).replaceAll('\0', '\ufffd')));
}

/** `stream` leaves out a character that is cut in two. */
function cut(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_SNIPPET_BYTES), { stream: true });
}
