import { Button } from './button.tsx';
import styles from './stat.module.css';

export interface PagerProps {
  /** Whether the page that was asked for is still being read. */
  isReading: boolean;
  /** Shows the newer page; null on the first page. */
  onNewer: (() => void) | null;
  /** Shows the older page; null on the last page. */
  onOlder: (() => void) | null;
}

/** The buttons below a list that has more than one page. */
export function Pager({ of, isReading, onNewer, onOlder }: PagerProps & { of: string }) {
  if (!onNewer && !onOlder) return null;
  return (
    <nav className={styles.row} aria-label={`Pages of ${of}`}>
      <Button disabled={isReading || !onNewer} onClick={() => onNewer?.()}>
        Newer
      </Button>
      <Button disabled={isReading || !onOlder} onClick={() => onOlder?.()}>
        Older
      </Button>
    </nav>
  );
}
