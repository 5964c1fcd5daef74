import type { ReactNode } from 'react';
import styles from './stat.module.css';

/** The most important figures, in one row. */
export function Stats({ stats }: { stats: readonly { label: string; value: ReactNode; note?: ReactNode }[] }) {
  return (
    <dl className={styles.stats}>
      {stats.map(({ label, value, note }) => (
        <div key={label} className={styles.stat}>
          <dt>{label}</dt>
          <dd>
            {value} {note && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
