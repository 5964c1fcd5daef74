import { Link } from '@tanstack/react-router';
import { Ban, RotateCcw } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { asCallError } from '../../api/errors.ts';
import type { Scope } from '../../api/session.ts';
import { plural, sumWords } from '../../format/numbers.ts';
import { useQuery } from '../../live/use-query.ts';
import { useTasks } from '../../live/use-task.ts';
import { AbsentPage } from '../../parts/absent-page.tsx';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Id } from '../../parts/id.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import stat from '../../parts/stat.module.css';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { report } from '../../parts/toasts.ts';
import { KeepKeys } from '../../viewer/keep-keys.tsx';
import { BatchProgress } from './batch-progress.tsx';
import { BatchTile } from './batch-tile.tsx';
import { countWords, nameOf, statusOf } from './batch-words.ts';
import { OneBatch } from './batches.documents.ts';
import styles from './batches.module.css';
import { CancelBatchDialog } from './cancel-batch.tsx';
import { failedOf, runFailedAgain } from './run-failed-again.ts';
import { type BatchItem, useBatchItems } from './use-batch-items.ts';
import { useLiveBatches } from './use-live-batches.ts';

const BatchViewer = lazy(part(() => import('./batch-viewer.tsx').then(({ BatchViewer: it }) => ({ default: it }))));

interface Props {
  batchId: string;
  scopes: readonly Scope[];
  /** The id of the file that is open in the viewer; null: none. */
  fileId: string | null;
  onView(fileId: string | null, replace: boolean): void;
}

/** A batch: how far it is, its results as tiles, and the actions on it. */
export function BatchPage({ batchId, scopes, fileId, onView }: Props) {
  const { data, error, reload } = useQuery(OneBatch, { id: batchId });
  const isGone = error?.code === 'batch_not_found';
  const [batch] = useLiveBatches(data && !isGone ? [data.batch] : [], () => void reload());
  const mayKeep = scopes.includes('generations:write');
  const items = useBatchItems(batchId);
  const [isCancelling, setCancelling] = useState(false);
  if (!batch) return <NoBatch error={error} onRetry={() => void reload()} />;
  const { status, usage, createdAt, counts, errors } = batch;
  return (
    <Page
      title={<bdi>{nameOf(batch) ?? 'Batch'}</bdi>}
      sub={
        <span className={stat.row}>
          <Id id={batchId} /> <TimeAgo at={createdAt} />
        </span>
      }
      actions={
        <>
          {mayKeep && <Again items={items.items ?? []} onDone={items.reload} />}
          {status === 'IN_PROGRESS' && scopes.includes('tasks:cancel') && (
            <Button variant="danger" onClick={() => setCancelling(true)}>
              <Ban aria-hidden /> Cancel batch
            </Button>
          )}
        </>
      }
    >
      <div className={styles.summary}>
        <BatchProgress batch={batch} label="Progress" />
        <p>
          <strong>{statusOf(batch)}</strong>: {countWords(batch)}.{' '}
          {usage && (
            <>
              Cost {sumWords(usage, usage.currency)}
              {usage.unpricedTasks > 0 && `, ${plural(usage.unpricedTasks, 'task')} without a price`}.{' '}
            </>
          )}
          <Link to="/tasks" search={{ batch: batchId }}>
            Open its tasks
          </Link>
        </p>
        <p className={stat.muted}>
          As JSON lines, with an API key: <code className={styles.path}>GET /v1/batches/{batchId}/results</code>
        </p>
      </div>
      {errors && errors.data.length > 0 && (
        <section className={stat.section}>
          <h2>Invalid items</h2>
          <ul>
            {errors.data.map(({ index, customId, message }) => (
              <li key={index}>
                <bdi>{customId ?? `#${index + 1}`}</bdi>: <bdi>{message}</bdi>
              </li>
            ))}
          </ul>
          {counts.invalid > errors.data.length && <p>And {counts.invalid - errors.data.length} more.</p>}
        </section>
      )}
      <section className={stat.section}>
        <h2>Items</h2>
        {items.error && <ErrorPanel error={items.error} onRetry={items.reload} />}
        {!items.items && !items.error && <Skeleton height={320} />}
        <ul className={styles.sheet} aria-label="Items of the batch">
          {items.items?.map((item) => (
            <BatchTile key={item.taskId} batchId={batchId} item={item} mayKeep={mayKeep} />
          ))}
        </ul>
      </section>
      {mayKeep && !fileId && <KeepKeys />}
      <Suspense>
        {fileId && (
          <BatchViewer
            items={items.items}
            hasFailed={items.error !== null}
            fileId={fileId}
            mayKeep={mayKeep}
            onView={onView}
          />
        )}
      </Suspense>
      {isCancelling && (
        <CancelBatchDialog batch={batch} onClose={() => setCancelling(false)} onDone={() => void reload()} />
      )}
    </Page>
  );
}

/** A button that runs failed items again. It appears once there is a failed item that may succeed in another run. */
function Again({ items, onDone }: { items: readonly BatchItem[]; onDone(): void }) {
  useTasks(
    items.map(({ taskId }) => taskId),
    { reads: false },
  );
  useTasks(
    items.map(({ againId }) => againId),
    { reads: false },
  );
  const [sent, setSent] = useState<number | null>(null);
  const failed = failedOf(items);
  if (failed.length === 0 && sent === null) return null;
  const again = async () => {
    setSent(0);
    try {
      await runFailedAgain(failed, setSent);
      report(`${plural(failed.length, 'item')} sent again.`);
    } catch (error) {
      report(asCallError(error).message, true);
    }
    setSent(null);
    onDone();
  };
  return (
    <Button variant="primary" busy={sent !== null && `Sending ${sent + 1}…`} onClick={() => void again()}>
      <RotateCcw aria-hidden /> Run {failed.length} failed again
    </Button>
  );
}

function NoBatch({ error, onRetry }: { error: ReturnType<typeof asCallError> | null; onRetry(): void }) {
  if (error?.code === 'batch_not_found') {
    return <AbsentPage title="Batch" absent="No batch of yours has this id" to="/batches" screen="Batches" />;
  }
  return (
    <Page title="Batch">{error ? <ErrorPanel error={error} onRetry={onRetry} /> : <Skeleton height={320} />}</Page>
  );
}
