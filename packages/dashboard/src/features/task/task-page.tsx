import { lazy, Suspense, useEffect, useState } from 'react';
import { CircleX, Clapperboard, Ellipsis, Pencil, RotateCcw, Shuffle, Star, StarOff, Trash2 } from 'lucide-react';
import { part } from '../../api/late-part.ts';
import { mayRunAgain } from '../../api/error-words.ts';
import { ratioOf } from '../../format/ratio.ts';
import { announceTask } from '../../live/announcer.ts';
import { isFinal, isUsablePicture, type TaskRow } from '../../live/task-store.ts';
import { useQuery } from '../../live/use-query.ts';
import { usePolledTask, useTask } from '../../live/use-task.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { AbsentPage } from '../../parts/absent-page.tsx';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Id } from '../../parts/id.tsx';
import { MenuButton, type MenuItem } from '../../parts/menu-button.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusChip } from '../../parts/status-chip.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { shotsOf } from '../../viewer/shot.ts';
import { ownFileIn } from '../../viewer/own-file-in.ts';
import { type TaskTab, TaskTabs } from './task-tabs.tsx';
import { type Detail, ModelParameters, TaskDetail } from './task.documents.ts';
import { TaskSummary } from './task-summary.tsx';
import { TaskViewer } from './task-viewer.tsx';
import styles from './task.module.css';
import { useTaskActions } from './use-task-actions.ts';

const DeleteTask = lazy(part(() => import('./delete-task.tsx').then(({ DeleteTask: it }) => ({ default: it }))));

const FullViewer = lazy(
  part(() => import('../../viewer/full-viewer.tsx').then(({ FullViewer: it }) => ({ default: it }))),
);

export interface TaskPageProps {
  taskId: string;
  /** The number of the output, from 1. */
  output: number;
  tab: TaskTab;
  compare: string | null;
  /** Whether the viewer fills the screen. */
  isFull: boolean;
  onFull(isFull: boolean): void;
  may: { cancel: boolean; create: boolean; webhooks: boolean };
  onCompare(fileId: string | null): void;
  onOutput(output: number): void;
  onTab(tab: TaskTab): void;
  onOpenTask(taskId: string): void;
  onCreateFrom(search: { from: string; as?: 'edit' | 'vary'; ref?: string; animate?: string }): void;
  onDeleted(): void;
}

/** One task: its outputs, its prompt and settings, and everything else known of it. */
export function TaskPage(props: TaskPageProps) {
  const { taskId } = props;
  const row = useTask(taskId);
  usePolledTask(taskId);
  useEffect(() => announceTask(taskId), [taskId]);
  const { data, error, reload } = useQuery(TaskDetail, { taskId });
  const detail = data?.task ?? null;
  // When the live feed brings another status, the facts that the feed does not have are read again.
  const step = row && `${row.status}${isFinal(row)}`;
  useEffect(() => {
    if (step) void reload();
  }, [step, reload]);

  if (row === null || error?.code === 'task_not_found') {
    return (
      <AbsentPage title="Task" absent="No task of yours has this id" to="/tasks" screen="Tasks">
        It was deleted, its time is over, or it belongs to another key.
      </AbsentPage>
    );
  }
  if (error && !detail) {
    return (
      <Page title="Task">
        <ErrorPanel error={error} onRetry={() => void reload()} />
      </Page>
    );
  }
  if (!row || !detail) {
    return (
      <Page title="Task">
        <div className={styles.layout}>
          <Skeleton height={520} />
          <Skeleton height={520} />
        </div>
      </Page>
    );
  }
  return <Loaded {...props} row={row} detail={detail} />;
}

function Loaded({ row, detail, ...props }: TaskPageProps & { row: TaskRow; detail: Detail }) {
  const { may, output, onOutput, onCreateFrom } = props;
  const actions = useTaskActions(row.taskId, props);
  const [deletes, setDeletes] = useState(false);
  const ended = isFinal(row);
  const { data } = useQuery(ModelParameters, ended ? null : { id: row.model });
  const again = ended && mayRunAgain(row);
  const shots = shotsOf(row);
  const shown = row.outputs[Math.min(output, row.outputs.length) - 1];
  const step = (by: number) =>
    row.outputs.length > 1 && onOutput(((output - 1 + by + row.outputs.length) % row.outputs.length) + 1);
  const edit = () => onCreateFrom({ from: row.taskId, as: 'edit' });
  const picture = shown && isUsablePicture(shown) ? shown : null;
  const vary = picture ? () => onCreateFrom({ from: row.taskId, as: 'vary', ref: picture.id }) : null;
  const animate = may.create && picture ? () => onCreateFrom({ from: row.taskId, animate: picture.id }) : null;
  useShortcuts({
    '[': () => step(-1),
    ']': () => step(1),
    e: edit,
    ...(vary && { v: vary }),
    ...(again && { r: () => void actions.again() }),
    ...(!ended && { c: () => void actions.cancel() }),
  });
  return (
    <Page
      title={<bdi className={styles.name}>{row.prompt || 'Task'}</bdi>}
      sub={
        <span className={styles.title}>
          <StatusChip status={row.status} progress={row.progress} errorCode={row.error?.code} />
          <span>
            {row.model} · <TimeAgo at={row.createdAt} />
          </span>
          <Id id={row.taskId} />
        </span>
      }
      actions={
        <>
          {!ended && may.cancel && (
            <Button
              variant="danger"
              busy={actions.busy === 'cancel' && 'Cancelling…'}
              onClick={() => void actions.cancel()}
            >
              <CircleX aria-hidden /> Cancel <kbd>c</kbd>
            </Button>
          )}
          {again && may.create && (
            <Button busy={actions.busy === 'again' && 'Sending…'} onClick={() => void actions.again()}>
              <RotateCcw aria-hidden /> Run again <kbd>r</kbd>
            </Button>
          )}
          {may.create && (
            <Button onClick={edit}>
              <Pencil aria-hidden /> Edit as new <kbd>e</kbd>
            </Button>
          )}
          {may.create && vary && (
            <Button onClick={vary}>
              <Shuffle aria-hidden /> Vary <kbd>v</kbd>
            </Button>
          )}
          {(may.cancel || may.create) && ended && (
            <MenuButton
              icon
              label="More actions"
              variant="quiet"
              trigger={<Ellipsis />}
              items={[
                ...(animate ? [{ label: 'Animate', icon: <Clapperboard />, onSelect: animate }] : []),
                ...(may.create ? [keepItem(row, actions.keep)] : []),
                ...(may.cancel ? [deleteItem(() => setDeletes(true))] : []),
              ]}
            />
          )}
        </>
      }
    >
      <div className={styles.layout}>
        <TaskViewer
          row={row}
          prompt={promptOf(detail)}
          ratio={ratioOf(detail.input as Record<string, unknown>, data?.model.parameters as object | undefined)}
          output={output}
          references={referencesOf(detail)}
          compare={props.compare}
          onCompare={props.onCompare}
          onOutput={onOutput}
          onFull={() => props.onFull(true)}
          mayKeep={may.create}
        />
        <TaskSummary row={row} detail={detail} />
      </div>
      <TaskTabs row={row} detail={detail} tab={props.tab} seesWebhooks={may.webhooks} onTab={props.onTab} />
      {props.isFull && row.outputs.length > 0 && (
        <Suspense>
          <FullViewer
            shot={shots[Math.min(output, shots.length) - 1] ?? null}
            shots={shots}
            isLoading={false}
            home="Task"
            onGo={(shot) => onOutput(shot.output.index + 1)}
            onStep={step}
            onEnd={(last) => onOutput(last ? shots.length : 1)}
            onClose={() => props.onFull(false)}
            mayKeep={may.create}
            renderActs={() =>
              may.create && (
                <>
                  {vary && (
                    <Button onClick={vary}>
                      <Shuffle aria-hidden /> Vary
                    </Button>
                  )}
                  <Button onClick={edit}>
                    <Pencil aria-hidden /> Edit as new
                  </Button>
                </>
              )
            }
          />
        </Suspense>
      )}
      {deletes && (
        <Suspense>
          <DeleteTask row={row} actions={actions} onClose={() => setDeletes(false)} />
        </Suspense>
      )}
    </Page>
  );
}

const keepItem = ({ kept }: TaskRow, keep: (isKept: boolean) => void): MenuItem => ({
  label: kept ? 'Give up, with its files' : 'Keep, with its files',
  icon: kept ? <StarOff /> : <Star />,
  onSelect: () => keep(!kept),
});

const deleteItem = (onSelect: () => void): MenuItem => ({
  label: 'Delete with its files',
  icon: <Trash2 />,
  danger: true,
  onSelect,
});

export const promptOf = (detail: Pick<Detail, 'input'>): string =>
  String((detail.input as { prompt?: unknown }).prompt ?? '');

/** The ids of the inputs that are files of this service. */
const referencesOf = ({ input }: Pick<Detail, 'input'>): string[] =>
  Object.values(input as Record<string, unknown>)
    .flat()
    .map(ownFileIn)
    .filter((id) => id !== null);
