import { Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, ListTodo, Expand, X } from 'lucide-react';
import { fileUrl } from '../../live/link-keeper.ts';
import { isCancelled, isFinal, type TaskNow } from '../../live/task-store.ts';
import { useTask } from '../../live/use-task.ts';
import { buttonClass } from '../../parts/button.tsx';
import { cx } from '../../parts/class-names.ts';
import { IconButton } from '../../parts/icon-button.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { StatusChip } from '../../parts/status-chip.tsx';
import { Picture } from '../../viewer/picture.tsx';
import type { Zoom } from '../../viewer/use-placement.ts';
import type { Chosen } from './chosen.ts';
import styles from './compare.module.css';

interface Props {
  chosen: Chosen;
  number: number;
  zoom: Zoom;
  onStep(index: number): void;
  onFull(): void;
  onRemove: (() => void) | null;
}

/** One of the compared outputs. Until its task ends, the progress is shown instead. */
export function ComparePane({ chosen, number, zoom, onStep, onFull, onRemove }: Props) {
  const row = useTask(chosen.taskId);
  const output = row?.outputs[chosen.index];
  const url = output ? fileUrl(output) : null;
  const count = row?.outputs.length ?? 0;
  const alt = `${number}: ${row?.prompt.slice(0, 120) ?? ''}`;
  return (
    <section className={styles.pane} aria-label={`Output ${number}`}>
      <header className={styles.paneHead}>
        <strong>{number}</strong>
        <span className={styles.model}>{row?.model}</span>
        {row && !isFinal(row) && <StatusChip status={row.status} progress={row.progress} />}
        <span className={styles.space} />
        {count > 1 && (
          <>
            <IconButton
              label={`Previous output of ${number}`}
              onClick={() => onStep((chosen.index - 1 + count) % count)}
            >
              <ChevronLeft />
            </IconButton>
            <span className={cx('mono', styles.place)}>
              {chosen.index + 1} / {count}
            </span>
            <IconButton label={`Next output of ${number}`} onClick={() => onStep((chosen.index + 1) % count)}>
              <ChevronRight />
            </IconButton>
          </>
        )}
        {url && (
          <IconButton label={`Full screen of ${number}`} onClick={onFull}>
            <Expand />
          </IconButton>
        )}
        <Link
          to="/tasks/$taskId"
          params={{ taskId: chosen.taskId }}
          search={{ output: String(chosen.index + 1) }}
          className={buttonClass({ variant: 'quiet', icon: true })}
          aria-label={`Task of ${number}`}
          title="Task"
        >
          <ListTodo />
        </Link>
        {onRemove && (
          <IconButton label={`Take ${number} out`} onClick={onRemove}>
            <X />
          </IconButton>
        )}
      </header>
      <div
        className={styles.frame}
        data-zoomed={zoom.placement.scale > 1}
        {...zoom.handlers}
        onDoubleClick={zoom.onDoubleClick}
      >
        {output && url ? (
          output.type === 'VIDEO' ? (
            // oxlint-disable-next-line jsx-a11y/media-has-caption -- generated films have no captions
            <video src={url} aria-label={alt} controls loop muted playsInline preload="auto" data-compared />
          ) : (
            <Picture
              key={output.id}
              picture={{ fileId: output.id, src: url, alt, width: output.width, height: output.height }}
              placement={zoom.placement}
            />
          )
        ) : row && !isFinal(row) ? (
          <div className={styles.waiting}>
            <ProgressBar percent={row.progress} label={`Progress of ${number}`} />
          </div>
        ) : (
          <p className={styles.note}>{endOf(row)}</p>
        )}
      </div>
    </section>
  );
}

function endOf(row: TaskNow): string {
  if (row === undefined) return 'Loading…';
  if (row?.status !== 'FAILED') return 'The file is deleted.';
  return isCancelled(row) ? 'The task was cancelled.' : 'The task failed.';
}
