/** Host and port of a configured address, without its other parts. operations/views/operations.view.ts */
export const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host || null : null);
