import { Link } from '@tanstack/react-router';
import { CircleX, Pencil, RotateCcw, Shuffle, X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { failureWords, mayRunAgain } from '../../api/error-words.ts';
import { duration } from '../../format/time.ts';
import { nowS, onTick } from '../../format/clock.ts';
import { announceTask } from '../../live/announcer.ts';
import { isFinal, type TaskRow } from '../../live/task-store.ts';
import { useTask } from '../../live/use-task.ts';
import { Button } from '../../parts/button.tsx';
import { Countdown } from '../../parts/countdown.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Id } from '../../parts/id.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { StatusChip } from '../../parts/status-chip.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { type Run, removeRun, send } from './runs.ts';
import styles from './run-card.module.css';
import { RunOutputs } from './run-outputs.tsx';
import type { ModelSchema } from './schema-rules.ts';

export interface RunActions {
  onAgain(run: Run): void;
  onEdit(run: Run): void;
  onVary(run: Run, fileId: string): void;
  onCancel(taskId: string): void;
  mayCancel: boolean;
}

interface Props {
  run: Run;
  typicalS: number | null;
  schema: ModelSchema | undefined;
  actions: RunActions;
}

/** One request of this tab, from its sending to its pictures. */
export function RunCard({ run, typicalS, schema, actions }: Props) {
  const task = useTask(run.taskId);
  const { prompt, model, n } = run.request;
  const ended = task && isFinal(task);
  const vary = task?.outputs[0];
  useEffect(() => (run.taskId ? announceTask(run.taskId) : undefined), [run.taskId]);
  return (
    <article className={styles.card} data-run={run.key} aria-label={`Run: ${prompt.slice(0, 80)}`}>
      <header className={styles.head}>
        {task ? (
          <StatusChip status={task.status} progress={task.progress} errorCode={task.error?.code} />
        ) : (
          <span className={styles.sub}>{run.fault ? 'Not sent' : 'Sending…'}</span>
        )}
        <span className={styles.sub}>{task && <Timing task={task} typicalS={typicalS} />}</span>
        <span className={styles.actions}>
          {task && !ended && actions.mayCancel && (
            <Button variant="quiet" onClick={() => actions.onCancel(task.taskId)}>
              <CircleX aria-hidden /> Cancel
            </Button>
          )}
          {ended && mayRunAgain(task) && (
            <Button variant="quiet" onClick={() => actions.onAgain(run)}>
              <RotateCcw aria-hidden /> Run again
            </Button>
          )}
          <Button variant="quiet" onClick={() => actions.onEdit(run)}>
            <Pencil aria-hidden /> Edit
          </Button>
          {ended && vary && vary.type === 'IMAGE' && (
            <Button variant="quiet" onClick={() => actions.onVary(run, vary.id)}>
              <Shuffle aria-hidden /> Vary
            </Button>
          )}
          {(ended || run.fault) && (
            <IconButton label="Remove from this list" onClick={() => removeRun(run.key)}>
              <X />
            </IconButton>
          )}
        </span>
      </header>
      <p className={styles.prompt}>
        <bdi>{prompt}</bdi>
      </p>
      <p className={styles.sub}>
        {[
          model,
          run.request['aspect_ratio'],
          run.request['resolution'],
          typeof n === 'number' && n > 1 ? `${n} images` : null,
        ]
          .filter(Boolean)
          .join(' · ')}
        {run.taskId && (
          <>
            {' · '}
            <Link to="/tasks/$taskId" params={{ taskId: run.taskId }}>
              Task
            </Link>{' '}
            <Id id={run.taskId} />
          </>
        )}
      </p>
      {task && !ended && <ProgressBar percent={task.progress} label={`Progress of ${prompt.slice(0, 40)}`} />}
      {run.fault && <Refusal run={run} />}
      {task?.error && task.error.code !== 'TASK_CANCELLED' && (
        <div className={styles.failure}>
          <strong>{failureWords(task.error.code).title}</strong>
          <span>{task.error.message}</span>
          <span>{failureWords(task.error.code).advice}</span>
        </div>
      )}
      {task?.status !== 'FAILED' && !run.fault && <RunOutputs run={run} task={task} schema={schema} />}
    </article>
  );
}

function Timing({ task, typicalS }: { task: TaskRow; typicalS: number | null }) {
  const now = useSyncExternalStore(onTick, nowS);
  if (task.status === 'QUEUED') return <>waiting {duration(Math.max(0, now - task.createdAt))}</>;
  if (!isFinal(task)) {
    const ranS = Math.max(0, now - task.startedAt);
    return <>{duration(ranS) + (typicalS !== null && ranS < typicalS ? ` of ~${duration(typicalS)}` : '')}</>;
  }
  return (
    <>
      {task.startedAt > 0 && `in ${duration(task.completedAt - task.startedAt)} · `}
      <TimeAgo at={task.completedAt} />
    </>
  );
}

function Refusal({ run }: { run: Run }) {
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
