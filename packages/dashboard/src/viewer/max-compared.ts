/** The most outputs that the screen Compare shows side by side. */
export const MAX_COMPARED = 4;
