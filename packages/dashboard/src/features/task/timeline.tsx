import { clockTimeMs } from '../../format/time.ts';
import type { TaskRow } from '../../live/task-store.ts';
import type { Detail } from './task.documents.ts';
import styles from './task.module.css';

type Moment = Detail['timeline'][number];

const WORDS: Record<Moment['type'], string> = {
  QUEUED: 'Queued',
  HELD: 'Held',
  RELEASED: 'Released',
  STARTED: 'Started',
  REFERENCES_READY: 'References fetched',
  SUBMITTING: 'Submitting',
  ACCEPTED: 'Accepted by the provider',
  REFUSED: 'Refused by the provider',
  WORKER_LOST: 'Worker lost',
  TAKEN_OVER: 'Taken over',
  STORING: 'Storing',
  SUCCEEDED: 'Succeeded',
  FAILED: 'Failed',
  CANCEL_REQUESTED: 'Cancel requested',
};

const BAD = new Set(['REFUSED', 'WORKER_LOST', 'FAILED']);

/** What happened to the task: the first moment by the clock, the others by the time since. */
export function Timeline({ row, moments }: { row: TaskRow; moments: Moment[] }) {
  const first = moments[0]?.atMs ?? row.createdAt * 1_000;
  return (
    <ol className={styles.moments}>
      {moments.map(({ atMs, type, attempt, detail, provider }, index) => (
        <li
          key={`${atMs}-${type}`}
          className={styles.moment}
          data-tone={BAD.has(type) ? 'bad' : type === 'SUCCEEDED' ? 'good' : ''}
        >
          <span>{WORDS[type]}</span>
          <time className="mono" dateTime={new Date(atMs).toISOString()} title={clockTimeMs(atMs)}>
            {index === 0 ? clockTimeMs(atMs) : `+ ${((atMs - first) / 1_000).toFixed(3)} s`}
          </time>
          {(attempt > 1 || detail || provider) && (
            <small>{[attempt > 1 ? `attempt ${attempt}` : null, provider, detail].filter(Boolean).join(' · ')}</small>
          )}
        </li>
      ))}
    </ol>
  );
}
