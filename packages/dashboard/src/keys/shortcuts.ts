import { useEffect, useRef } from 'react';
import { look } from '../look/theme.ts';

/**
 * The functions of a screen by their key, such as `c`, `g t`, `?` or `mod+k`. `mod` is ⌘ on a Mac and Ctrl elsewhere.
 */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Keys that act again and again while they are held, because they move something. All others act once per press. */
const MOVING = new Set(['j', 'k', '[', ']', ',', '.', '+', '-']);

/** The second key of a sequence such as `g t` must follow within this time. */
const SEQUENCE_MS = 1_000;

const stack: Shortcuts[] = [];
let first: { key: string; at: number } | null = null;

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.tagName === 'TEXTAREA' ||
    target.tagName === 'SELECT' ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'range', 'button'].includes(target.type)));

const isPressable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('button, a') !== null;

function onKeyDown(event: KeyboardEvent): void {
  // While Enter is held, browsers press a button again and again. The button must act only once.
  if (event.repeat && event.key === 'Enter' && isPressable(event.target)) return event.preventDefault();
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const mod = event.metaKey || event.ctrlKey;
  const key = event.key.length === 1 && !mod ? event.key : event.key.toLowerCase();
  if (!mod && (isField(event.target) || (look().singleKeys === 'off' && key.length === 1))) return;
  const name = mod ? `mod+${key}` : key;
  if (event.repeat && !MOVING.has(name)) {
    if (actOf(name)) event.preventDefault();
    return;
  }
  const sequence = first && performance.now() - first.at < SEQUENCE_MS ? `${first.key} ${name}` : null;
  first = { key: name, at: performance.now() };
  // A sequence comes first: `g s` works even if `s` alone does something too.
  const act = (sequence && actOf(sequence)) || actOf(name);
  if (!act) return;
  event.preventDefault();
  first = null;
  act(event);
}

/** A marker in the stack: shortcuts below it have no effect, as below a dialog. */
const FENCE: Shortcuts = {};

const actOf = (name: string) => stack.slice(stack.lastIndexOf(FENCE) + 1).findLast((each) => each[name])?.[name];

/** While `isUp`, only shortcuts that are added after this fence work. Call it before `useShortcuts`. */
export function useFence(isUp = true): void {
  useEffect(() => {
    if (!isUp) return undefined;
    stack.push(FENCE);
    return () => void stack.splice(stack.lastIndexOf(FENCE), 1);
  }, [isUp]);
}

/** The shortcuts of a component while it is on the screen. The newest component comes first. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  useEffect(() => {
    if (stack.length === 0) addEventListener('keydown', onKeyDown);
    const entry: Shortcuts = new Proxy({}, { get: (_, key) => latest.current[String(key)] });
    stack.push(entry);
    return () => {
      stack.splice(stack.indexOf(entry), 1);
      if (stack.length === 0) removeEventListener('keydown', onKeyDown);
    };
  }, []);
}

export const MOD = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl+';
