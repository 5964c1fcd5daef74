/** How the dashboard looks in this browser. `public/theme-first.js` applies it before the first paint. */
export interface Look {
  theme: 'system' | 'safelight' | 'paper';
  density: 'auto' | 'compact' | 'comfortable';
  motion: 'system' | 'reduced';
  clock: 'local' | 'utc';
  singleKeys: 'on' | 'off';
}

const STORAGE_KEY = 'darkroom.look';
const DEFAULTS: Look = { theme: 'system', density: 'auto', motion: 'system', clock: 'local', singleKeys: 'on' };

let current: Look = read();
const listeners = new Set<() => void>();

function read(): Look {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Partial<Look>) };
  } catch {
    return DEFAULTS; // storage is blocked or damaged
  }
}

export const look = (): Look => current;

export function onLook(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function setLook(change: Partial<Look>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(current));
  } catch {
    // Without storage the choice holds for this tab.
  }
  apply();
  for (const listener of listeners) listener();
}

function apply(): void {
  const root = document.documentElement;
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = current.theme === 'system' ? (dark ? 'safelight' : 'paper') : current.theme;
  if (current.density === 'auto') delete root.dataset.density;
  else root.dataset.density = current.density;
  if (current.motion === 'reduced') root.dataset.motion = 'reduced';
  else delete root.dataset.motion;
}

/** Applies the theme of the system as long as the user has not chosen one. */
export function followSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
}

export const prefersReducedMotion = (): boolean =>
  current.motion === 'reduced' || matchMedia('(prefers-reduced-motion: reduce)').matches;
