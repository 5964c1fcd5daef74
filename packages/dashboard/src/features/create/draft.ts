import type { Values } from './schema-rules.ts';

/** The content of the form in this tab. It survives reloads, and ends with the tab. */
export interface Draft {
  model: string;
  values: Values;
  /** Further models that get the same request. */
  also?: readonly string[];
  /** How often each model gets the request. */
  repeat?: number;
  /** The task that the form was filled from. */
  parent?: string | null;
  /** Images that were uploaded while no form was on the screen. The next form takes them. */
  uploaded?: readonly Uploaded[];
}

/** An image that was uploaded for the form of this tab. */
export interface Uploaded {
  fileId: string;
  /** The name of the field that takes the image; null: a film is made of the image. */
  place: string | null;
}

let onScreen: ((uploaded: Uploaded) => void) | null = null;

/** Gives uploads to the form on the screen, until the returned function is called. */
export function takeUploads(take: (uploaded: Uploaded) => void): () => void {
  onScreen = take;
  return () => {
    if (onScreen === take) onScreen = null;
  };
}

/** Puts an image into the form on the screen, else into the saved draft. */
export function handOver(uploaded: Uploaded): void {
  if (onScreen) return onScreen(uploaded);
  const draft = savedDraft() ?? { model: '', values: {} };
  saveDraft({ ...draft, uploaded: [...(draft.uploaded ?? []), uploaded] });
}

const STORAGE_KEY = 'darkroom.draft';

export function savedDraft(): Draft | null {
  try {
    const draft = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? 'null') as Draft | null;
    return typeof draft?.model === 'string' && typeof draft.values === 'object' ? draft : null;
  } catch {
    return null; // storage is blocked or damaged
  }
}

export function saveDraft(draft: Draft): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(draft));
  } catch {
    // Without storage the draft ends with the page.
  }
}

/**
 * Reads a shared form: `#input=` with base64url of JSON. A fragment is never sent to a server, so no log has the
 * prompt.
 */
export function draftInFragment(fragment: string): Draft | null {
  const text = new URLSearchParams(fragment.replace(/^#/, '')).get('input');
  if (!text) return null;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
    const { model, ...values } = JSON.parse(new TextDecoder().decode(bytes)) as { model: string };
    return { model, values };
  } catch {
    return null;
  }
}
