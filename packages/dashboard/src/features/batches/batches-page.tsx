import { Link } from '@tanstack/react-router';
import { Layers } from 'lucide-react';
import { shortId } from '../../format/id.ts';
import { sumWords } from '../../format/numbers.ts';
import { usePages } from '../../live/use-pages.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from '../../parts/stat.module.css';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { BatchProgress } from './batch-progress.tsx';
import { countWords, nameOf, statusOf } from './batch-words.ts';
import { type Batch, Batches } from './batches.documents.ts';
import { useLiveBatches } from './use-live-batches.ts';

const COLUMNS = [
  { label: 'Batch' },
  { label: 'State' },
  { label: 'Progress' },
  { label: 'Items' },
  { label: 'Cost', number: true },
  { label: 'Made' },
];

const STATES = { all: 'All', running: 'In progress', completed: 'Completed', cancelled: 'Cancelled' };
export type BatchState = keyof typeof STATES;
export const isState = (text: string | undefined): text is BatchState => text !== undefined && text in STATES;
const STATUS_OF = { all: null, running: 'IN_PROGRESS', completed: 'COMPLETED', cancelled: 'CANCELLED' } as const;

interface Props {
  state: BatchState;
  onState(state: BatchState): void;
}

/** The batches of the key in the chosen state, with their progress. */
export function BatchesPage({ state, onState }: Props) {
  const { data, error, reload, pager } = usePages(
    Batches,
    { status: STATUS_OF[state] },
    ({ batches: { pageInfo } }) => pageInfo,
  );
  const batches = useLiveBatches(data?.batches.edges.map(({ node }) => node) ?? [], () => void reload());
  return (
    <Page
      title="Batches"
      actions={
        <Segments<BatchState>
          label="State"
          value={state}
          options={(Object.entries(STATES) as [BatchState, string][]).map(([value, label]) => ({ value, label }))}
          onChange={onState}
        />
      }
    >
      {error && <ErrorPanel error={error} onRetry={() => void reload()} />}
      {!data && !error && <Skeleton height={240} />}
      {data && !error && batches.length === 0 && <NoBatch state={state} onAll={() => onState('all')} />}
      {batches.length > 0 && (
        <Table
          label="Batches"
          columns={COLUMNS}
          rows={batches.map((batch) => ({ key: batch.id, cells: cellsOf(batch) }))}
        />
      )}
      <Pager of="batches" {...pager} />
    </Page>
  );
}

function cellsOf(batch: Batch) {
  const { id, createdAt, usage } = batch;
  const name = nameOf(batch);
  return [
    <>
      <Link to="/batches/$batchId" params={{ batchId: id }}>
        <bdi>{name ?? shortId(id)}</bdi>
      </Link>
      {name && (
        <div className={`mono ${styles.muted}`} title={id}>
          {shortId(id)}
        </div>
      )}
    </>,
    statusOf(batch),
    <BatchProgress key="progress" batch={batch} label={`Progress of ${name ?? shortId(id)}`} />,
    countWords(batch),
    usage ? sumWords(usage, usage.currency) : '–',
    <TimeAgo key="made" at={createdAt} />,
  ];
}

function NoBatch({ state, onAll }: { state: BatchState; onAll(): void }) {
  if (state !== 'all') {
    return <EmptyState title="No batch is in this state" action={<Button onClick={onAll}>Show all</Button>} />;
  }
  return (
    <EmptyState
      icon={<Layers size={28} aria-hidden />}
      title="No batch yet"
      action={
        <Link to="/connect" className={buttonClass({ variant: 'primary' })}>
          Connect
        </Link>
      }
    >
      A batch makes up to 1,000 pictures or films by one call: <code>POST /v1/batches</code>, or OpenAI’s client.
    </EmptyState>
  );
}
