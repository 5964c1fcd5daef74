/** Host and port of an address of the configuration, without what else may be in it. */
export const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host || null : null);
