import { Link } from '@tanstack/react-router';
import { ListTodo, RotateCcw, SquareSplitHorizontal } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { filterOf, isFiltered, type TaskSearch, unfinishedOf, unfinishedWord } from '../../live/task-filter.ts';
import { useTaskCounts } from '../../live/task-counts.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { cx } from '../../parts/class-names.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { NewsPill } from '../../parts/news-pill.tsx';
import { Page } from '../../parts/page.tsx';
import { useAction } from '../../parts/use-action.ts';
import { MAX_COMPARED } from '../../viewer/max-compared.ts';
import { TaskFilters } from './task-filters.tsx';
import { runAgain } from './run-again.ts';
import { TaskPeek } from './task-peek.tsx';
import { TaskTable } from './task-table.tsx';
import styles from './tasks.module.css';
import { useTaskList } from './use-task-list.ts';

const BulkCancel = lazy(part(() => import('./bulk-cancel.tsx').then(({ BulkCancel: it }) => ({ default: it }))));

interface Props {
  search: TaskSearch;
  mayCancel: boolean;
  mayCreate: boolean;
  peek: string | null;
  onPeek(taskId: string | null, replace: boolean): void;
  onSearch(search: TaskSearch, isTyping?: boolean): void;
  onCreate(): void;
}

/** The tasks of the key that match the filters, newest first, with live changes. */
export function TasksPage({ search, mayCancel, mayCreate, peek, onPeek, onSearch, onCreate }: Props) {
  const list = useTaskList(search);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { busy, act } = useAction();
  const [cancelling, setCancelling] = useState<'selected' | 'all' | null>(null);
  const { counts, reload: recount } = useTaskCounts(search);
  const unfinished = unfinishedOf(search).reduce(
    (sum, status) => sum + (counts?.[status === 'QUEUED' ? 'queued' : 'running'] ?? 0),
    0,
  );
  const canCancelAll = mayCancel && !search.error && unfinished > 0 && list.ids.length > 0;

  return (
    <Page
      title="Tasks"
      actions={
        <>
          {selected.size > 1 && selected.size <= MAX_COMPARED && (
            <Link to="/compare" search={{ tasks: [...selected].join(',') }} className={buttonClass()}>
              <SquareSplitHorizontal aria-hidden /> Compare {selected.size}
            </Link>
          )}
          {selected.size > 0 && mayCreate && (
            <Button busy={busy && 'Sending…'} onClick={() => void act(() => runAgain([...selected]))}>
              <RotateCcw aria-hidden /> Run {selected.size} again
            </Button>
          )}
          {selected.size > 0 && mayCancel && (
            <Button variant="danger" onClick={() => setCancelling('selected')}>
              Cancel {selected.size} selected
            </Button>
          )}
          {canCancelAll && selected.size === 0 && (
            <Button variant="danger" onClick={() => setCancelling('all')}>
              Cancel all {unfinishedWord(search)}
            </Button>
          )}
        </>
      }
    >
      <TaskFilters search={search} counts={counts} onSearch={onSearch} />
      {list.error && list.ids.length === 0 ? (
        <ErrorPanel error={list.error} onRetry={list.reload} />
      ) : list.ids.length === 0 && list.waiting.length === 0 && !list.isLoading ? (
        <EmptyState
          icon={<ListTodo size={28} aria-hidden />}
          title={isFiltered(search) ? 'No task matches these filters' : 'Nothing made yet'}
          action={
            isFiltered(search) ? (
              <Button onClick={() => onSearch({})}>Clear the filters</Button>
            ) : (
              <Button variant="primary" onClick={onCreate}>
                Create
              </Button>
            )
          }
        />
      ) : (
        <div className={cx(styles.list, peek !== null && styles.peeking)}>
          <div className={styles.rows}>
            <NewsPill count={list.waiting.length} noun="new task" onShow={list.showWaiting} />
            <TaskTable
              list={list}
              selected={selected}
              onSelect={setSelected}
              selectable
              filter={JSON.stringify(filterOf(search))}
              peek={peek}
              onPeek={onPeek}
            />
          </div>
          {peek && <TaskPeek key={peek} taskId={peek} onClose={() => onPeek(null, false)} />}
        </div>
      )}
      {cancelling && (
        <Suspense>
          <BulkCancel
            search={search}
            taskIds={cancelling === 'selected' ? [...selected] : null}
            onDone={() => {
              list.reload();
              recount();
            }}
            onClose={() => {
              setCancelling(null);
              setSelected(new Set());
            }}
          />
        </Suspense>
      )}
    </Page>
  );
}
