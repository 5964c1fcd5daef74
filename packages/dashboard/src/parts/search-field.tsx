import { useEffect, useRef } from 'react';
import { useShortcuts } from '../keys/shortcuts.ts';
import styles from './filter-bar.module.css';
import { TextInput } from './text-input.tsx';

/** The pause between the last keystroke and the search. */
const TYPING_MS = 300;

interface Props {
  value: string;
  onFind(words: string): void;
}

/** A search by words of the prompt. The key `/` focuses it. */
export function SearchField({ value, onFind }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined);
  useShortcuts({ '/': () => field.current?.focus() });
  useEffect(() => {
    // After Clear and Back the field takes the new value, but not while the user types in it.
    if (field.current && field.current !== document.activeElement) field.current.value = value;
  }, [value]);
  const find = (words: string) => {
    clearTimeout(typing.current);
    typing.current = setTimeout(() => onFind(words), TYPING_MS);
  };
  return (
    <TextInput
      ref={field}
      type="search"
      className={styles.search}
      aria-label="Words in the prompt"
      placeholder="Words in the prompt  /"
      defaultValue={value}
      onChange={(event) => find(event.target.value)}
    />
  );
}
