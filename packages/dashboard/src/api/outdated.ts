/** The storage key of the note that a newer build has removed a part of this build. */
const NOTE = 'darkroom.updated';
let isMissing = false;

/** Whether a part of this build is gone, so that the page must be reloaded. */
export const isOutdated = (): boolean => isMissing;

/** Leaves a note for the page after the reload. */
export function noteMissingPart(): void {
  isMissing = true;
  try {
    sessionStorage.setItem(NOTE, '1');
  } catch {
    // Without storage the next page does not say why it was reloaded.
  }
}

/** Whether this page was loaded because the page before was outdated. True only once. */
export function wasOutdated(): boolean {
  try {
    const was = sessionStorage.getItem(NOTE) !== null;
    sessionStorage.removeItem(NOTE);
    return was;
  } catch {
    return false;
  }
}
