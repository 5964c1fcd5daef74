import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { failureWords } from '../../api/error-words.ts';
import { goneWords } from '../../format/gone.ts';
import { costWords } from '../../format/numbers.ts';
import { fileUrl, stillUrl } from '../../live/link-keeper.ts';
import { isCancelled, isFinal, type TaskRow } from '../../live/task-store.ts';
import { useTask } from '../../live/use-task.ts';
import { StatusChip } from '../../parts/status-chip.tsx';
import { TilePicture } from '../../parts/tile-picture.tsx';
import { TileStar } from '../../viewer/tile-star.tsx';
import styles from './batches.module.css';
import type { BatchItem } from './use-batch-items.ts';

/** One item of the batch: its first output, or its state. For an item that was run again, the last run. */
export function BatchTile({ batchId, item, mayKeep }: { batchId: string; item: BatchItem; mayKeep: boolean }) {
  const { taskId, againId, index, customId } = item;
  const first = useTask(taskId);
  const again = useTask(againId);
  const row = again ?? first;
  const output = row?.outputs[0];
  const cost = row && costWords(row.cost);
  return (
    <li className={styles.item} data-tile={output?.id}>
      <Link
        {...(output?.url
          ? { to: '/batches/$batchId', params: { batchId }, search: { view: output.id }, resetScroll: false }
          : { to: '/tasks/$taskId', params: { taskId: row?.taskId ?? taskId } })}
        className={styles.print}
        title={row?.prompt}
      >
        {row ? <Print key={row.taskId} row={row} /> : row === null && <span className={styles.waiting}>Deleted</span>}
      </Link>
      {mayKeep && row && output && <TileStar listed={{ ...row, output }} name={customId ?? `#${index + 1}`} />}
      <span className={styles.edge}>
        <bdi>{customId ?? `#${index + 1}`}</bdi>
        {again && <span>again</span>}
        {cost && <span>{cost}</span>}
      </span>
    </li>
  );
}

function Print({ row }: { row: TaskRow }) {
  const [wasFinal] = useState(isFinal(row));
  const [output] = row.outputs;
  if (!output) {
    return (
      <span className={styles.waiting}>
        <StatusChip status={row.status} progress={row.progress} errorCode={row.error?.code} />
        {row.error && !isCancelled(row) && <span>{failureWords(row.error.code).title}</span>}
      </span>
    );
  }
  return (
    <TilePicture
      src={output.type === 'VIDEO' || output.url === null ? fileUrl(output) : stillUrl(output)}
      gone={goneWords(row.filesUntil)}
      poster={output.preview && stillUrl(output)}
      alt={row.prompt.slice(0, 120)}
      isFilm={output.type === 'VIDEO'}
      seconds={output.duration}
      develop={!wasFinal}
      {...(row.outputs.length > 1 && { index: `1 of ${row.outputs.length}` })}
    />
  );
}
