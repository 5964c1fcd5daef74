import { CallError, SIGNED_OUT } from './errors.ts';
import { createStore } from '../store.ts';
import { call } from './http.ts';

/** The scopes of an API key, as REST spells them. */
export type Scope =
  | 'generations:write'
  | 'tasks:read'
  | 'tasks:cancel'
  | 'webhooks:manage'
  | 'keys:manage'
  | 'operations:read'
  | 'operations:manage';

export interface Session {
  id: string;
  expires_at: number;
  api_key: { id: string; name: string; hint: string; scopes: Scope[]; expires_at: number | null };
}

/** `asked`: it is not known yet whether there is a session. `lost`: the session ended while the page was open. */
export type SignIn = { state: 'asked' | 'out' } | { state: 'in' | 'lost'; session: Session };

const { get, set, subscribe } = createStore<SignIn>({ state: 'asked' });
export { get as signIn, subscribe as onSignIn };
const news = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('darkroom.session');
news?.addEventListener('message', () => void restore());

/** The id of the API key that is signed in, or whose session was lost; null: none. */
export const keyNow = (): string | null => {
  const now = get();
  return 'session' in now ? now.session.api_key.id : null;
};

/**
 * Calls the listener when another API key has signed in, or when none is signed in any more. The call comes before
 * anything is drawn for the new key, because nothing of one key may get to another.
 */
export function onOtherKey(listener: () => void): void {
  let owner = keyNow();
  subscribe(() => {
    if (keyNow() === owner) return;
    owner = keyNow();
    listener();
  });
}

/** Reads whether this browser has a session. @throws CallError when the service does not answer or fails */
export async function restore(): Promise<Session | null> {
  try {
    const session = await call<Session>('GET', '/v1/session');
    set({ state: 'in', session });
    return session;
  } catch (error) {
    if (!(error instanceof CallError) || !SIGNED_OUT.has(error.code)) throw error;
    if (get().state === 'in') lostSession();
    else if (get().state !== 'lost') set({ state: 'out' });
    return null;
  }
}

export async function startSession(secret: { api_key: string } | { code: string }, remember: boolean): Promise<void> {
  const session = await call<Session>('POST', '/v1/session', { ...secret, remember });
  set({ state: 'in', session });
  tellOtherTabs();
}

export async function endSession(): Promise<void> {
  await call('DELETE', '/v1/session');
  set({ state: 'out' });
  tellOtherTabs();
}

/** All tabs share the cookie. A tab that missed a sign-in or sign-out would show one key and act as another. */
function tellOtherTabs(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has only one origin
  news?.postMessage('changed');
}

/** The service no longer knows the session. The page stays, and a dialog over it asks to sign in. */
export function lostSession(): void {
  const current = get();
  if (current.state === 'in') set({ state: 'lost', session: current.session });
}
