import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { failureWords } from '../../api/error-words.ts';
import { duration } from '../../format/time.ts';
import { fileUrl, stillUrl } from '../../live/link-keeper.ts';
import { isFinal } from '../../live/task-store.ts';
import { useTask } from '../../live/use-task.ts';
import { buttonClass } from '../../parts/button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Id } from '../../parts/id.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { StatusChip } from '../../parts/status-chip.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import styles from './tasks.module.css';

/** A task beside the list. The focus stays in the list, so that the keys j and k still work. */
export function TaskPeek({ taskId, onClose }: { taskId: string; onClose(): void }) {
  const row = useTask(taskId);
  return (
    <aside className={styles.peek} aria-label="Peek">
      <div className={styles.peekHead}>
        {row ? <StatusChip status={row.status} progress={row.progress} errorCode={row.error?.code} /> : 'Deleted'}
        <IconButton label="Close the peek" shortcut="Esc" onClick={onClose}>
          <X />
        </IconButton>
      </div>
      {row && (
        <>
          {row.status === 'RUNNING' && <ProgressBar percent={row.progress} label="Progress of the peeked task" />}
          <div className={styles.peekPictures}>
            {row.outputs.slice(0, 4).map((output) => {
              const url = output.type === 'VIDEO' ? fileUrl(output) : stillUrl(output);
              if (url === null) return <span key={output.id}>Deleted</span>;
              return output.type === 'VIDEO' ? (
                // oxlint-disable-next-line jsx-a11y/media-has-caption -- generated films have no captions
                <video
                  key={output.id}
                  src={url}
                  controls
                  loop
                  muted
                  playsInline
                  aria-label={row.prompt.slice(0, 120)}
                />
              ) : (
                <img key={output.id} src={url} alt={`${row.prompt.slice(0, 120)}, output ${output.index + 1}`} />
              );
            })}
          </div>
          <p className={styles.peekText}>
            <bdi>{row.prompt}</bdi>
          </p>
          {row.error && (
            <p className={styles.peekWhy}>
              {failureWords(row.error.code).title}. {failureWords(row.error.code).advice}
            </p>
          )}
          <p className={styles.peekSub}>
            {row.model} · <TimeAgo at={row.createdAt} />
            {isFinal(row) && row.startedAt > 0 && ` · ran ${duration(row.completedAt - row.startedAt)}`}
          </p>
          <div className={styles.peekHead}>
            <Id id={taskId} />
            <Link to="/tasks/$taskId" params={{ taskId }} className={buttonClass()}>
              Open <kbd>Enter</kbd>
            </Link>
          </div>
        </>
      )}
    </aside>
  );
}
