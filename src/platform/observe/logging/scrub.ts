/**
 * Fields whose text is never logged, at any depth. The search takes 0.5 µs per line; pino's redaction of nested fields
 * takes 6.5 µs.
 */
const SECRET_FIELDS = /"(authorization|cookie|key|secret|prompt)":"[^"\\]*(?:\\.[^"\\]*)*"/gi;
/** Credentials: API keys and webhook secrets of this service, and Bearer tokens of any service. */
const SECRETS = /\b(dr_|whsec_|Bearer\s+)[\w+/=.-]{8,}/gi;
/**
 * Each link, even without a query string. If the expression required one, it would fail at the end of a long link and
 * start again within the link: its time would grow with the square of the length.
 */
const LINKS = /\bhttps?:\/\/[^\s?"'<>\\]+(?:\?[^\s"'<>\\]*)?/gi;
/** `user:password@` of a URL, such as that of a database. */
const CREDENTIALS = /:\/\/[^\s/@"'\\]+@/g;

/**
 * Removes secrets from every log line, by their field name or their form. No match reaches past a quote or a backslash,
 * so JSON remains JSON. Keys and prompts in an upstream's error have no form of their own. Two earlier steps remove
 * them: providers/wire/operator-cause.ts removes the key of the call, generation/run/without-prompt.ts the prompt.
 */
export function scrub(line: string): string {
  const scrubbed = line.replace(SECRET_FIELDS, '"$1":"…"').replace(SECRETS, '$1…');
  return scrubbed.includes('://') ? withoutQueries(scrubbed.replace(CREDENTIALS, '://…@')) : scrubbed;
}

/** Removes query strings: they hold the signature of signed links, and the API key in URLs of some upstreams. */
export const withoutQueries = (text: string): string =>
  text.replace(LINKS, (link) => (link.includes('?') ? `${link.slice(0, link.indexOf('?'))}?…` : link));

/** Nested causes are logged to this depth. */
const MAX_CAUSES = 4;

/**
 * The fields of an error that are logged. Others are not: database drivers attach the query with its parameters to
 * their errors, and HTTP clients attach the whole request.
 */
export function errorFields(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : typeof error;
  const { name, message, stack, cause, code } = error as Error & { code?: unknown };
  return {
    type: name,
    message,
    ...(typeof code === 'string' && { code }),
    stack,
    ...(cause !== undefined && depth < MAX_CAUSES && { cause: errorFields(cause, depth + 1) }),
  };
}
