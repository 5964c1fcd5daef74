import { createStore } from '../store.ts';
import { noteMissingPart } from './outdated.ts';

/** The first and the longest pause before a part is requested again. A part is a module that the page loads later. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 8_000;
/** A part is given up after this many broken answers. */
const ATTEMPTS = 3;

/**
 * When a part that could not be loaded is requested again, in unix milliseconds. Null: no part waits for that.
 */
export type Awaited = { retryAt: number } | null;

const { get, set, subscribe } = createStore<Awaited>(null);
export { get as awaitedPart, subscribe as onAwaitedPart };
let tryNow: (() => void) | null = null;
const known: (() => Promise<unknown>)[] = [];

export const askForPartNow = (): void => tryNow?.();

/** Whether a style sheet may have failed to load. The bundler's loader requests each style sheet only once. */
let mayLackStyles = false;

/** Marks a part of the page that is loaded later, so that `loadAllParts` can load it before it is needed. */
export function part<Module>(load: () => Promise<Module>): () => Promise<Module> {
  known.push(load);
  return () => patiently(load);
}

/** Loads every part before it is needed. Then a screen opens even if the service does not answer. */
export async function loadAllParts(): Promise<void> {
  for (const load of known) await load().catch(() => void (mayLackStyles = true));
}

/**
 * A part that fails to load means one of three things. If the service does not answer, the screen stays as it is until
 * the service does. If a newer build has no such part, the page must be reloaded. Otherwise the answer was broken, and
 * the part is requested again, three times in all.
 */
async function patiently<Module>(load: () => Promise<Module>): Promise<Module> {
  let pauseMs = FIRST_PAUSE_MS;
  let attempt = 0;
  for (;;) {
    try {
      if (mayLackStyles) await askForStyles();
      return await load();
    } catch (error) {
      mayLackStyles = true;
      const build = await builtNow();
      if (build === 'other') noteMissingPart();
      if (build === 'other' || (build === 'same' && ++attempt === ATTEMPTS)) throw error;
      await pause(pauseMs);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
  }
}

/** Requests again those style sheets of the page that did not load. */
async function askForStyles(): Promise<void> {
  const sheets = document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]');
  const lacking = [...sheets].filter(({ sheet }) => sheet === null);
  await Promise.all(
    lacking.map((link) => {
      const next = link.cloneNode() as HTMLLinkElement;
      return new Promise((resolve, reject) => {
        next.addEventListener('load', resolve);
        next.addEventListener('error', () => reject(new Error(`${next.href} did not load`)));
        link.replaceWith(next);
      });
    }),
  );
  mayLackStyles = false;
}

/**
 * Whether the service has the build of this page or another one; null: it sends no page. Another build has another
 * first script, because the name of that script contains a hash of its content.
 */
async function builtNow(): Promise<'same' | 'other' | null> {
  const own = document.querySelector<HTMLScriptElement>('script[type=module][src]')?.getAttribute('src');
  const page = await fetch('/app/', { cache: 'no-store' }).then(
    (answer) => (answer.ok ? answer.text() : null),
    () => null,
  );
  return page === null ? null : own && page.includes(own) ? 'same' : 'other';
}

function pause(ms: number): Promise<void> {
  set({ retryAt: Date.now() + ms });
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      tryNow = null;
      set(null);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    tryNow = done;
  });
}
