/** Within this many milliseconds an equal press is no new press, but a double click or a key hit twice by mistake. */
export const SAME_PRESS_MS = 400;
