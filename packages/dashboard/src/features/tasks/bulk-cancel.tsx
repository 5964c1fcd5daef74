import { useEffect, useRef, useState } from 'react';
import { mutate, run } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { plural } from '../../format/numbers.ts';
import { filterOf, type TaskSearch, unfinishedOf, unfinishedWord } from '../../live/task-filter.ts';
import { taskRow, type TaskRow } from '../../live/task-store.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { Segments } from '../../parts/segments.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { report } from '../../parts/toasts.ts';
import { CancelTasks, TaskIds } from './tasks.documents.ts';
import styles from './tasks.module.css';

/** At most this many ids are sent in one call. */
const CHUNK = 100;
/** From this many tasks on, the user has to type the number to confirm. */
const TYPED_FROM = 51;
/** One dialog reads and cancels at most this many tasks. */
const MAX_TASKS = 10_000;

interface Frozen {
  taskId: string;
  /** The status when the dialog opened; null if this page does not know the task. */
  status: TaskRow['status'] | null;
}

interface Props {
  search: TaskSearch;
  /** The selected tasks; null: all unfinished tasks that match the filters. */
  taskIds: string[] | null;
  onClose(): void;
  /** Called at the end, unless cancelling failed before any task was cancelled. */
  onDone(): void;
}

/** Cancels the tasks that were selected or matched the filters when the dialog opened, but no later tasks. */
export function BulkCancel({ search, taskIds, onClose, onDone }: Props) {
  const [all, setAll] = useState(() => taskIds && taskIds.map(asFrozen));
  const [isQueuedOnly, setQueuedOnly] = useState(false);
  const [typed, setTyped] = useState('');
  const [done, setDone] = useState<{ asked: number; cancelled: number; already: number } | null>(null);
  const [state, setState] = useState<'asking' | 'working' | 'ended'>('asking');
  const [fault, setFault] = useState<string | null>(null);
  const stopped = useRef(false);

  useEffect(() => {
    if (taskIds) return;
    freeze(search).then(setAll, (error: unknown) => setFault(asCallError(error).message));
    // No dependencies, because only the filters at the opening of the dialog count.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);

  async function cancel(tasks: readonly Frozen[]) {
    setState('working');
    const ids = tasks.map(({ taskId }) => taskId);
    const sum = { asked: 0, cancelled: 0, already: 0 };
    try {
      for (let at = 0; at < ids.length && !stopped.current; at += CHUNK) {
        const chunk = ids.slice(at, at + CHUNK);
        const { cancelTasks } = await mutate(CancelTasks, { taskIds: chunk });
        sum.asked += chunk.length;
        sum.cancelled += cancelTasks.filter(({ outcome }) => outcome === 'CANCELLED').length;
        sum.already = sum.asked - sum.cancelled;
        setDone({ ...sum });
      }
    } catch (error) {
      setFault(asCallError(error).message);
      if (sum.cancelled > 0) onDone();
      return setState('ended');
    }
    const left = stopped.current && sum.asked < ids.length ? `, ${ids.length - sum.asked} left alone` : '';
    report(`${doneWords(sum)}${left}.`);
    onDone();
    onClose();
  }

  const queued = all?.filter(({ status }) => status === 'QUEUED').length ?? 0;
  const running = all?.filter(({ status }) => status === 'RUNNING').length ?? 0;
  const frozen = isQueuedOnly ? (all?.filter(({ status }) => status === 'QUEUED') ?? null) : all;
  const count = frozen?.length ?? 0;
  const needsTyping = count >= TYPED_FROM;
  const prompts = (frozen ?? []).slice(0, 5).flatMap(({ taskId }) => taskRow(taskId)?.prompt ?? []);
  const of = [unfinishedWord(search), search.kind, search.model && `of ${search.model}`].filter(Boolean).join(' ');
  return (
    <Dialog
      open
      title={frozen ? `Cancel ${plural(count, 'task')}?` : 'Counting the tasks…'}
      text={taskIds || !frozen ? undefined : `All that are ${of} now. Tasks that are created from now on stay.`}
      {...(state !== 'working' && { onClose })}
      actions={
        <>
          {state === 'asking' && <Button onClick={onClose}>Keep them</Button>}
          {state === 'asking' && (
            <Button
              variant="danger"
              disabled={!frozen || count === 0 || (needsTyping && typed !== String(count))}
              onClick={() => frozen && void cancel(frozen)}
            >
              Cancel {plural(count, 'task')}
            </Button>
          )}
          {state === 'working' && <Button onClick={() => (stopped.current = true)}>Stop</Button>}
          {state === 'ended' && <Button onClick={onClose}>Close</Button>}
        </>
      }
    >
      {queued > 0 && running > 0 && state === 'asking' && (
        <Segments
          label="What to cancel"
          value={isQueuedOnly ? 'queued' : 'all'}
          options={[
            { value: 'all', label: 'Queued and running' },
            { value: 'queued', label: `Queued, let ${running} running finish` },
          ]}
          onChange={(value) => {
            setQueuedOnly(value === 'queued');
            setTyped('');
          }}
        />
      )}
      {prompts.length > 0 && state === 'asking' && (
        <ul className={styles.prompts}>
          {prompts.map((prompt, index) => (
            <li key={index}>
              <bdi>{prompt}</bdi>
            </li>
          ))}
          {count > prompts.length && <li>and {plural(count - prompts.length, 'more', 'more')}</li>}
        </ul>
      )}
      {needsTyping && state === 'asking' && (
        <Field label={`Type ${count} to confirm`}>
          {(ids) => (
            <TextInput
              {...ids}
              inputMode="numeric"
              value={typed}
              onChange={(event) => setTyped(event.target.value.trim())}
            />
          )}
        </Field>
      )}
      {done && <ProgressBar percent={Math.round((done.asked / Math.max(1, count)) * 100)} label="Cancelled so far" />}
      {done && <p role="status">{doneWords(done)}.</p>}
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}

const doneWords = ({ cancelled, already }: { cancelled: number; already: number }): string =>
  `${plural(cancelled, 'task')} cancelled${already > 0 ? `, ${already} had already ended` : ''}`;

const asFrozen = (taskId: string): Frozen => ({ taskId, status: taskRow(taskId)?.status ?? null });

async function freeze(search: TaskSearch): Promise<Frozen[]> {
  const found: Frozen[] = [];
  let after: string | null = null;
  do {
    const { tasks }: Awaited<ReturnType<typeof page>> = await page(search, after);
    found.push(...tasks.edges.map(({ node }) => node));
    after = tasks.pageInfo.hasNextPage ? tasks.pageInfo.endCursor : null;
  } while (after && found.length < MAX_TASKS);
  return found;
}

const page = (search: TaskSearch, after: string | null) => {
  const filter = filterOf(search);
  return run(TaskIds, { filter: { ...filter, statuses: unfinishedOf(search) }, after });
};
