import type { CSSProperties } from 'react';
import styles from './status.module.css';

export function ProgressBar({ percent, label }: { percent: number; label: string }) {
  return (
    <div
      className={styles.bar}
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      style={{ '--part': percent / 100 } as CSSProperties}
    />
  );
}
