import { useSyncExternalStore } from 'react';
import { failureWords } from '../../api/error-words.ts';
import { nowS, onTick } from '../../format/clock.ts';
import { costWords } from '../../format/numbers.ts';
import { duration } from '../../format/time.ts';
import { isFinal, type TaskRow } from '../../live/task-store.ts';
import { Button } from '../../parts/button.tsx';
import { Countdown } from '../../parts/countdown.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { type Run, send } from './runs.ts';
import styles from './strip.module.css';

/** How long the task has waited or run. After its end: how long it ran, when it ended, and its cost. */
export function Timing({ task, typicalS }: { task: TaskRow; typicalS: number | null }) {
  const now = useSyncExternalStore(onTick, nowS);
  if (task.status === 'QUEUED') return <span>waiting {duration(Math.max(0, now - task.createdAt))}</span>;
  if (!isFinal(task)) {
    const ranS = Math.max(0, now - task.startedAt);
    return (
      <span>
        {duration(ranS)}
        {typicalS !== null && ranS < typicalS && ` of ~${duration(Math.ceil(typicalS))}`}
      </span>
    );
  }
  const cost = costWords(task.cost);
  return (
    <span>
      {task.startedAt > 0 && `in ${duration(task.completedAt - task.startedAt)} · `}
      <TimeAgo at={task.completedAt} />
      {cost && ` · ${cost}`}
    </span>
  );
}

/** Why a task failed, and what to do. */
export function Failure({ task: { error } }: { task: TaskRow }) {
  if (!error) return null;
  const { title, advice } = failureWords(error.code);
  return (
    <div className={styles.failure}>
      <strong>{title}</strong>
      <span>{error.message}</span>
      <span>{advice}</span>
    </div>
  );
}

/** Why a request was refused or got no answer, with a countdown or a button to send it again. */
export function Refusal({ run }: { run: Run }) {
  const { fault } = run;
  if (!fault) return null;
  return (
    <div className={styles.failure} role="alert">
      <strong>{fault.message}</strong>
      <span className="mono">
        {fault.code}
        {fault.requestId && ` · ${fault.requestId}`}
      </span>
      {fault.retryAfterS !== null ? (
        <Countdown seconds={fault.retryAfterS} before="Trying again in " onEnd={() => void send(run.key)} />
      ) : (
        <span>
          <Button onClick={() => void send(run.key)}>Send again</Button>
        </span>
      )}
    </div>
  );
}
