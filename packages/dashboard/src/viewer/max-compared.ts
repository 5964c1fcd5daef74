/** The screen Compare shows at most this many outputs side by side. */
export const MAX_COMPARED = 4;
