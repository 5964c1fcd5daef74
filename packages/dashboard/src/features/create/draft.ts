import { keyNow } from '../../api/session.ts';
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
}

/** An image that was uploaded for the form of this tab. */
export interface Uploaded {
  fileId: string;
  /** The name of the field that takes the image; null: a film is made of the image. */
  place: string | null;
}

let onScreen: ((uploaded: Uploaded) => void) | null = null;

/**
 * Gives uploads to the form on the screen, until the returned function is called. The form first gets the uploads that
 * have waited for a form.
 */
export function takeUploads(take: (uploaded: Uploaded) => void): () => void {
  onScreen = take;
  const waiting = saved<Waiting>(WAITING_KEY);
  if (waiting) save(WAITING_KEY, null);
  if (waiting?.owner === keyNow()) waiting?.uploaded.forEach(take);
  return () => {
    if (onScreen === take) onScreen = null;
  };
}

/**
 * Puts an image into the form on the screen. Without a form the image waits for the next form with the same API key.
 */
export function handOver(uploaded: Uploaded): void {
  if (onScreen) return onScreen(uploaded);
  const owner = keyNow();
  const waiting = saved<Waiting>(WAITING_KEY);
  const others = waiting?.owner === owner ? waiting.uploaded : [];
  save(WAITING_KEY, { owner, uploaded: [...others, uploaded] });
}

const DRAFT_KEY = 'darkroom.draft';
const WAITING_KEY = 'darkroom.uploaded';

interface Waiting {
  /** The API key of the images, because an image of one key must not get into the form of another. */
  owner: string | null;
  uploaded: readonly Uploaded[];
}

function saved<Content>(key: string): Content | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') as Content | null;
  } catch {
    return null; // storage is blocked or damaged
  }
}

function save(key: string, content: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(content));
  } catch {
    // Without storage the content ends with the page.
  }
}

export function savedDraft(): Draft | null {
  const draft = saved<Draft & { owner?: string | null }>(DRAFT_KEY);
  if (draft?.owner !== keyNow()) return null; // no draft, or a draft that was typed with another API key
  return typeof draft?.model === 'string' && typeof draft.values === 'object' ? draft : null;
}

export const saveDraft = (draft: Draft): void => save(DRAFT_KEY, { ...draft, owner: keyNow() });

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
