import { noteMissingPart } from './outdated.ts';

/** Pauses before a part is asked for again, while the service does not answer. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 8_000;
/** So often an answering service may fail to give a part of its own build. */
const ATTEMPTS = 3;

/** A part of the page that waits for a service which does not answer; unix milliseconds of the next attempt. */
export type Awaited = { retryAt: number } | null;

let awaited: Awaited = null;
let tryNow: (() => void) | null = null;
const listeners = new Set<() => void>();
const known: (() => Promise<unknown>)[] = [];

export const awaitedPart = (): Awaited => awaited;
export const askForPartNow = (): void => tryNow?.();

export function onAwaitedPart(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: Awaited): void {
  awaited = next;
  for (const listener of listeners) listener();
}

/** Styles that did not arrive: the builder asks for each of them only once. */
let mayLackStyles = false;

/** Marks a part of the page that arrives later, so that it can be loaded before it is needed. */
export function part<Module>(load: () => Promise<Module>): () => Promise<Module> {
  known.push(load);
  return () => patiently(load);
}

/** Loads every part while nothing else is to be done. Then a screen opens also without the service. */
export async function loadAllParts(): Promise<void> {
  for (const load of known) await load().catch(() => void (mayLackStyles = true));
}

/**
 * A part that fails to load means one of three things. The service does not answer: the screen stays as it is until it
 * does. A newer build has no such part: the page must be read again. Or the answer was broken.
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

/** Asks again for the style sheets that are named in the page and not there. */
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

/** Which build the service has now: the page names its first script by its content. */
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
