import type { Values } from './schema-rules.ts';

/** The form of this tab. It outlives reloads, and ends with the tab. */
export interface Draft {
  model: string;
  values: Values;
  /** Further models that get the same request. */
  also?: readonly string[];
  /** How often each model gets it. */
  repeat?: number;
  /** The task that this began with. */
  parent?: string | null;
  /** Came while no form was on the screen; the next one takes them. */
  uploaded?: readonly Uploaded[];
}

/** An image that was uploaded for the form of this tab. */
export interface Uploaded {
  fileId: string;
  /** The name of its field; null: a film is to be made of it. */
  place: string | null;
}

let onScreen: ((uploaded: Uploaded) => void) | null = null;

/** The form on the screen takes what was uploaded, until the returned function is called. */
export function takeUploads(take: (uploaded: Uploaded) => void): () => void {
  onScreen = take;
  return () => {
    if (onScreen === take) onScreen = null;
  };
}

/** Puts an image into the form on the screen, else into the saved one. */
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
    // Without storage the draft lives as long as the page.
  }
}

/** A shared form: `#input=` and base64url of JSON. A fragment is never sent to a server, so no log has the prompt. */
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
