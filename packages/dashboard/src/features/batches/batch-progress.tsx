import { countWords } from './batch-words.ts';
import type { Batch } from './batches.documents.ts';
import styles from './batches.module.css';

const PARTS = ['succeeded', 'failed', 'cancelled', 'invalid', 'running'] as const;

/** How far a batch is and how its items ended, as one bar. */
export function BatchProgress({ batch, label }: { batch: Batch; label: string }) {
  const { counts, progress, requestCounts } = batch;
  return (
    <div className={styles.progress}>
      <div
        className={styles.bar}
        role="progressbar"
        aria-label={label}
        aria-valuenow={progress}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={`${progress} %: ${countWords(batch)}`}
      >
        {PARTS.map((part) => (
          <div
            key={part}
            className={styles[part]}
            style={{ width: `${(counts[part] / requestCounts.total) * 100}%` }}
          />
        ))}
      </div>
      <span className={styles.percent}>{progress} %</span>
    </div>
  );
}
