import { useShortcuts } from '../keys/shortcuts.ts';
import { plural } from '../format/numbers.ts';
import { Button } from './button.tsx';
import styles from './news-pill.module.css';

interface Props {
  /** How many new items the list does not show yet. For 0 nothing is drawn. */
  count: number;
  /** What an item is called, such as `new task`. */
  noun: string;
  onShow(): void;
}

/** A button that counts the items that came after the list was read. A press shows them at the top of the list. */
export function NewsPill({ count, noun, onShow }: Props) {
  useShortcuts(count > 0 ? { '.': onShow } : {});
  if (count === 0) return null;
  return (
    <Button className={styles.pill} onClick={onShow}>
      {plural(count, noun)} <kbd>.</kbd>
    </Button>
  );
}
