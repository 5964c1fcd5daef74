import { ChevronLeft, ChevronRight, Download, Expand, Link2 } from 'lucide-react';
import { type CSSProperties, useSyncExternalStore } from 'react';
import { failureWords } from '../../api/error-words.ts';
import { nowS, onTick } from '../../format/clock.ts';
import { bytes } from '../../format/numbers.ts';
import { duration } from '../../format/time.ts';
import { fileUrl, stillUrl } from '../../live/link-keeper.ts';
import { isFinal, type TaskRow } from '../../live/task-store.ts';
import { useQuery } from '../../live/use-query.ts';
import { buttonClass } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { TilePicture } from '../../parts/tile-picture.tsx';
import { Viewer } from '../../viewer/viewer.tsx';
import { TaskWait } from './task.documents.ts';
import styles from './task.module.css';

interface Props {
  row: TaskRow;
  prompt: string;
  /** Width to height, as chosen. */
  ratio: number;
  output: number;
  onOutput(output: number): void;
}

export function TaskViewer({ row, prompt, ratio, output, onOutput }: Props) {
  const count = row.outputs.length;
  const at = Math.min(Math.max(1, output), Math.max(1, count));
  const shown = row.outputs[at - 1];
  if (!shown)
    return (
      <div className={styles.stage}>{row.error ? <Failure row={row} /> : <Waiting row={row} ratio={ratio} />}</div>
    );
  const url = fileUrl(shown);
  const alt = `${prompt.slice(0, 120)}, output ${at} of ${count}`;
  return (
    <section className={styles.viewer} aria-label="Outputs">
      <Viewer
        key={shown.id}
        fileId={shown.id}
        src={url}
        alt={alt}
        isFilm={shown.type === 'VIDEO'}
        width={shown.width}
        height={shown.height}
      >
        {count > 1 && (
          <>
            <IconButton label="Previous output" shortcut="[" onClick={() => onOutput(at === 1 ? count : at - 1)}>
              <ChevronLeft />
            </IconButton>
            <span className="mono">
              {at} / {count}
            </span>
            <IconButton label="Next output" shortcut="]" onClick={() => onOutput(at === count ? 1 : at + 1)}>
              <ChevronRight />
            </IconButton>
          </>
        )}
        {url && (
          <a
            className={buttonClass({ variant: 'quiet', icon: true })}
            href={url}
            download
            aria-label="Download"
            title="Download"
          >
            <Download />
          </a>
        )}
        {url && (
          <a
            className={buttonClass({ variant: 'quiet', icon: true })}
            href={url}
            target="_blank"
            rel="noreferrer"
            aria-label="Open the file"
            title="Open the file"
          >
            <Expand />
          </a>
        )}
      </Viewer>
      <p className={styles.caption}>
        <span className="mono">
          {shown.width} × {shown.height}
          {shown.duration !== null && ` · ${duration(shown.duration)}`} ·{' '}
          {shown.contentType.replace(/^\w+\//, '').toUpperCase()} · {bytes(shown.sizeBytes)}
        </span>
        {url && (
          <span>
            <Link2 size={14} aria-hidden />{' '}
            <CopyButton
              small
              label="Copy link: whoever has it can read the file until it expires"
              text={() => location.origin + (fileUrl(shown) ?? '')}
            />
          </span>
        )}
      </p>
      {count > 1 && (
        <div className={styles.strip}>
          {row.outputs.map((each) => (
            <button
              key={each.id}
              type="button"
              className={styles.thumb}
              aria-current={each.index === at - 1}
              aria-label={`Output ${each.index + 1}`}
              style={{ aspectRatio: `${each.width} / ${each.height}` }}
              onClick={() => onOutput(each.index + 1)}
            >
              <TilePicture
                src={each.type === 'VIDEO' ? fileUrl(each) : stillUrl(each)}
                alt=""
                isFilm={each.type === 'VIDEO'}
                seconds={each.duration}
                index={each.index + 1}
              />
            </button>
          ))}
        </div>
      )}
    </section>
  );
}

const WAITS = {
  WORKER: 'Waits for a worker',
  KEY_LIMIT: 'Waits: the key runs as many tasks as it may',
  PROVIDER_LIMIT: 'Waits: the provider is busy',
  PAUSE: 'Paused by the operator',
};

function Waiting({ row, ratio }: { row: TaskRow; ratio: number }) {
  const now = useSyncExternalStore(onTick, nowS);
  const { data } = useQuery(TaskWait, row.status === 'QUEUED' ? { taskId: row.taskId } : null);
  const wait = data?.task.estimate;
  const left = wait?.estimatedCompletionAt ? Math.max(0, wait.estimatedCompletionAt - now) : null;
  return (
    <div className={styles.frame} style={{ '--ratio': ratio } as CSSProperties}>
      <div className={styles.waiting} role="status">
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

function Failure({ row }: { row: TaskRow }) {
  if (!row.error || !isFinal(row)) return null;
  const { title, advice } = failureWords(row.error.code);
  return (
    <div className={styles.failure}>
      <h2>{title}</h2>
      {row.error.code !== 'TASK_CANCELLED' && <p>{row.error.message}</p>}
      <p>{advice}</p>
      <p className="mono">
        {row.error.code.toLowerCase()}
        {row.error.param && ` · ${row.error.param}`}
        {row.error.retryable && ' · may succeed when run again'}
      </p>
    </div>
  );
}
