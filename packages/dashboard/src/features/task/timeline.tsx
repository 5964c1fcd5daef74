import type { CSSProperties } from 'react';
import { clockTimeMs, duration } from '../../format/time.ts';
import { isCancelled, type TaskRow } from '../../live/task-store.ts';
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

/** A time between two events that is shorter than this gets no bar. */
const SHOWN_MS = 20;

/**
 * The events of a task. The first has its clock time, the others have the time since the first. Each also shows the
 * time until the next one.
 */
export function Timeline({ row, moments }: { row: TaskRow; moments: Moment[] }) {
  const first = moments[0]?.atMs ?? row.createdAt * 1_000;
  const cancelled = isCancelled(row);
  const whole = Math.max(1, (moments.at(-1)?.atMs ?? first) - first);
  return (
    <ol className={styles.moments}>
      {moments.map(({ atMs, type, attempt, detail, provider }, index) => {
        const next = moments[index + 1];
        const tookMs = next ? next.atMs - atMs : 0;
        return (
          <li
            key={`${atMs}-${type}`}
            className={styles.moment}
            data-tone={type === 'FAILED' && cancelled ? '' : BAD.has(type) ? 'bad' : type === 'SUCCEEDED' ? 'good' : ''}
          >
            <span>{type === 'FAILED' && cancelled ? 'Cancelled' : WORDS[type]}</span>
            <time className="mono" dateTime={new Date(atMs).toISOString()} title={clockTimeMs(atMs)}>
              {index === 0 ? clockTimeMs(atMs) : `+ ${((atMs - first) / 1_000).toFixed(3)} s`}
            </time>
            {(attempt > 1 || detail || provider) && (
              <small>{[attempt > 1 ? `attempt ${attempt}` : null, provider, detail].filter(Boolean).join(' · ')}</small>
            )}
            {next && tookMs >= SHOWN_MS && (
              <span className={styles.took} style={{ '--part': tookMs / whole } as CSSProperties}>
                {tookMs < 1_000 ? `${tookMs} ms` : duration(tookMs / 1_000)}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
