import { Link } from '@tanstack/react-router';
import { Star } from 'lucide-react';
import { memo, useSyncExternalStore } from 'react';
import { failureWords } from '../../api/error-words.ts';
import { nowS, onTick } from '../../format/clock.ts';
import { duration } from '../../format/time.ts';
import { fileUrl, stillUrl } from '../../live/link-keeper.ts';
import { matches, type TaskFilter } from '../../live/task-filter.ts';
import { isCancelled, isFinal, type TaskRow } from '../../live/task-store.ts';
import { useTask } from '../../live/use-task.ts';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { StatusChip } from '../../parts/status-chip.tsx';
import { TilePicture } from '../../parts/tile-picture.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import styles from './tasks.module.css';

interface Props {
  taskId: string;
  selected: boolean;
  selectable: boolean;
  /** The filter of the list, as JSON. A row that no longer matches the filter stays, but is dimmed. */
  filter: string;
}

/**
 * The cells of a row. A row listens to its own task. So a change renders only that row, and scrolling renders only the
 * rows that come into view.
 */
export const TaskLine = memo(function TaskLine({ taskId, selected, selectable, filter }: Props) {
  const row = useTask(taskId);
  if (!row) return <span className={styles.gone}>Deleted</span>;
  const cover = row.outputs[0];
  const text = row.prompt;
  return (
    <>
      {selectable && (
        <span role="gridcell" className={styles.check}>
          <input
            type="checkbox"
            aria-label={`Select ${text.slice(0, 40)}`}
            checked={selected}
            onChange={() => undefined} // the table handles the click
          />
        </span>
      )}
      <span role="gridcell" className={styles.thumb}>
        {cover && (
          <TilePicture
            src={cover.preview ? stillUrl(cover) : fileUrl(cover)}
            alt=""
            isFilm={cover.type === 'VIDEO' && !cover.preview}
          />
        )}
      </span>
      <span role="gridcell" className={styles.text} data-left={!matches(row, JSON.parse(filter) as TaskFilter)}>
        <Link to="/tasks/$taskId" params={{ taskId }} className={styles.link}>
          <bdi>{text || taskId}</bdi>
        </Link>
        {row.kept && <Star className={styles.kept} role="img" aria-label="Kept" />}
        {row.error && !isCancelled(row) && <span className={styles.why}>{failureWords(row.error.code).title}</span>}
      </span>
      <span role="gridcell" className={styles.state}>
        <StatusChip status={row.status} progress={row.progress} errorCode={row.error?.code} />
        {row.status === 'RUNNING' && <ProgressBar percent={row.progress} label="Progress" />}
      </span>
      <span role="gridcell" className={styles.model}>
        {row.model}
      </span>
      <span role="gridcell" className={styles.took}>
        <Took row={row} />
      </span>
      <TimeAgo at={row.createdAt} role="gridcell" className={styles.age} />
    </>
  );
});

/** How long a task ran. For an unfinished task: how long it has run or waited so far. */
function Took({ row }: { row: TaskRow }) {
  if (isFinal(row)) return <>{row.startedAt > 0 ? duration(row.completedAt - row.startedAt) : '–'}</>;
  return <Ticking from={row.startedAt || row.createdAt} waits={row.status === 'QUEUED'} />;
}

function Ticking({ from, waits }: { from: number; waits: boolean }) {
  const now = useSyncExternalStore(onTick, nowS);
  return (
    <>
      {waits && 'waits '}
      {duration(Math.max(0, now - from))}
    </>
  );
}
