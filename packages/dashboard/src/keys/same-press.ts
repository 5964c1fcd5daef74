/** An equal press within this many milliseconds is ignored: it is a double click, or a key hit twice by mistake. */
export const SAME_PRESS_MS = 400;
