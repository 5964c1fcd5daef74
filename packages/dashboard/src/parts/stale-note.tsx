import { clockTime } from '../format/time.ts';
import styles from './stat.module.css';

/** A note that the shown data is no longer kept up to date. */
export function StaleNote({ since }: { since: number | null }) {
  return since === null ? null : (
    <p className={styles.warn} role="status">
      As of {clockTime(since / 1_000)}. Reconnecting…
    </p>
  );
}
