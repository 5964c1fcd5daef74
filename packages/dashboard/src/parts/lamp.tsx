import { cx } from './class-names.ts';
import styles from './lamp.module.css';

/** The lamp of a darkroom. The menu lights it while a task of the key is unfinished. */
export function Lamp({ lit, size = 22 }: { lit: boolean; size?: number }) {
  return (
    <svg className={cx(styles.lamp, lit && styles.lit)} width={size} height={size} viewBox="0 0 24 24" aria-hidden>
      <circle className={styles.ring} cx="12" cy="12" r="9" />
      <circle className={styles.core} cx="12" cy="12" r="4.5" />
    </svg>
  );
}
