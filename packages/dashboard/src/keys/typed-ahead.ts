/** Characters that are typed during a sign-in are kept at most this long for the first field of the next screen. */
const LONGEST_MS = 10_000;

let typed = '';
let stop: () => void = () => undefined;

/** Keeps the characters that are typed from now on, wherever the focus is, until `takeTyped` takes them. */
export function keepTyped(): void {
  stop();
  typed = '';
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Backspace') typed = typed.slice(0, -1);
    else if (event.key.length === 1) typed += event.key;
    else return;
    event.preventDefault();
    event.stopImmediatePropagation(); // else the letter would be a shortcut of the screen that opens
  };
  const timer = setTimeout(() => takeTyped(), LONGEST_MS);
  addEventListener('keydown', onKeyDown, true);
  stop = () => {
    clearTimeout(timer);
    removeEventListener('keydown', onKeyDown, true);
    stop = () => undefined;
  };
}

/** Stops keeping characters, and returns those that were typed. */
export function takeTyped(): string {
  stop();
  const text = typed;
  typed = '';
  return text;
}
