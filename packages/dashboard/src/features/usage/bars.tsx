import type { CSSProperties } from 'react';
import styles from './bars.module.css';

export interface Bar {
  label: string;
  succeeded: number;
  failed: number;
  cancelled: number;
}

const OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const;

/** Tasks by outcome over time. The table below it has the same figures. */
export function Bars({ bars }: { bars: readonly Bar[] }) {
  const highest = Math.max(1, ...bars.map((bar) => bar.succeeded + bar.failed + bar.cancelled));
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.legend}>
        {OUTCOMES.map((outcome) => (
          <span
            key={outcome}
            style={{ '--swatch': `var(--${outcome === 'cancelled' ? 'control' : outcome})` } as CSSProperties}
          >
            {outcome}
          </span>
        ))}
        <span className={styles.axis}>most: {highest}</span>
      </figcaption>
      <div className={styles.bars} aria-hidden>
        {bars.map((bar) => (
          <div
            key={bar.label}
            className={styles.bar}
            title={`${bar.label}: ${OUTCOMES.map((outcome) => `${bar[outcome]} ${outcome}`).join(', ')}`}
          >
            {OUTCOMES.map((outcome) => (
              <div key={outcome} className={styles[outcome]} style={{ height: `${(bar[outcome] / highest) * 100}%` }} />
            ))}
          </div>
        ))}
      </div>
      <div className={styles.axis} aria-hidden>
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
    </figure>
  );
}
