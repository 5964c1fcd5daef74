/** Host and port of a configured address, without its other parts. */
export const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host || null : null);
