/** Host and port of a configured address, without its other parts; null if it has none. */
export const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host || null : null);
