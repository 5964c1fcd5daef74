/**
 * The host and port of a configured address, without the other parts of the URL; null if the URL is invalid or has no
 * host.
 */
export const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host || null : null);
