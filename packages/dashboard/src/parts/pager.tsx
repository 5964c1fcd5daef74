import { Button } from './button.tsx';
import styles from './stat.module.css';

export interface PagerProps {
  /** What is shown is not yet the page that was asked for. */
  isReading: boolean;
  /** Shows the newer page; null on the first. */
  onNewer: (() => void) | null;
  /** Shows the older page; null on the last. */
  onOlder: (() => void) | null;
}

/** Below a list that has more than one page. */
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
