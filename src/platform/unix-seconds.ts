/** The unit of every time in the public API. */
export const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);
