import { type CSSProperties, useSyncExternalStore } from 'react';
import { failureWords } from '../../api/error-words.ts';
import { nowS, onTick } from '../../format/clock.ts';
import { duration } from '../../format/time.ts';
import { isCancelled, isFinal, type TaskRow } from '../../live/task-store.ts';
import { useQuery } from '../../live/use-query.ts';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { TaskWait } from './task.documents.ts';
import styles from './task.module.css';

const WAITS = {
  WORKER: 'Waits for a worker',
  KEY_LIMIT: 'Waits: the key runs as many tasks as it may',
  PROVIDER_LIMIT: 'Waits: the provider is busy',
  PAUSE: 'Paused by the operator',
};

/** Shown in place of the first output until the output exists. */
export function Waiting({ row, ratio }: { row: TaskRow; ratio: number }) {
  const now = useSyncExternalStore(onTick, nowS);
  const { data } = useQuery(TaskWait, row.status === 'QUEUED' ? { taskId: row.taskId } : null);
  const wait = data?.task.estimate;
  const left = wait?.estimatedCompletionAt ? Math.max(0, wait.estimatedCompletionAt - now) : null;
  return (
    <div className={styles.frame} style={{ '--ratio': ratio } as CSSProperties}>
      <div className={styles.waiting}>
        <span className={styles.figure}>{row.status === 'QUEUED' ? 'Queued' : `${row.progress} %`}</span>
        <ProgressBar percent={row.progress} label="Progress" />
        <p>
          {row.status === 'QUEUED'
            ? `${wait?.waitingFor ? WAITS[wait.waitingFor] : 'Waits for a worker'}${wait?.position && wait.position > 1 ? `, ${wait.position - 1} go before` : ''}`
            : `Running for ${duration(Math.max(0, now - row.startedAt))}`}
          {left !== null && left > 1 && `, about ${duration(left)} left`}
        </p>
      </div>
    </div>
  );
}

/** Why the task failed, what to do, and whether running it again may help. */
export function Failure({ row }: { row: TaskRow }) {
  if (!row.error || !isFinal(row)) return null;
  const { title, advice } = failureWords(row.error.code);
  return (
    <div className={styles.failure}>
      <h2>{title}</h2>
      {!isCancelled(row) && <p>{row.error.message}</p>}
      <p>{advice}</p>
      <p className="mono">
        {row.error.code.toLowerCase()}
        {row.error.param && ` · ${row.error.param}`}
        {row.error.retryable && ' · may succeed when run again'}
      </p>
    </div>
  );
}
