/** A newer build may have replaced the parts of the page that were not loaded yet. */
const NOTE = 'darkroom.updated';
let isMissing = false;

/** A part of this build is gone: the page has to be read again. */
export const isOutdated = (): boolean => isMissing;

/** Leaves a note for the page that is read next. */
export function noteMissingPart(): void {
  isMissing = true;
  try {
    sessionStorage.setItem(NOTE, '1');
  } catch {
    // Without storage the next page does not say why it was read.
  }
}

/** Whether this page was read because the one before was outdated. Says so once. */
export function wasOutdated(): boolean {
  try {
    const was = sessionStorage.getItem(NOTE) !== null;
    sessionStorage.removeItem(NOTE);
    return was;
  } catch {
    return false;
  }
}
