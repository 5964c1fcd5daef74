import { createStore } from '../store.ts';

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

const { get: look, set, subscribe: onLook } = createStore(read());
export { look, onLook };

function read(): Look {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Partial<Look>) };
  } catch {
    return DEFAULTS; // storage is blocked or damaged
  }
}

export function setLook(change: Partial<Look>): void {
  const next = { ...look(), ...change };
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(next));
  } catch {
    // Without storage the choice ends with the page.
  }
  set(next);
  apply();
}

function apply(): void {
  const { theme, density, motion } = look();
  const root = document.documentElement;
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = theme === 'system' ? (dark ? 'safelight' : 'paper') : theme;
  if (density === 'auto') delete root.dataset.density;
  else root.dataset.density = density;
  if (motion === 'reduced') root.dataset.motion = 'reduced';
  else delete root.dataset.motion;
}

/** Follows changes of the system's theme. They have an effect only if the user has not chosen a theme. */
export function followSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
}

export const prefersReducedMotion = (): boolean =>
  look().motion === 'reduced' || matchMedia('(prefers-reduced-motion: reduce)').matches;
