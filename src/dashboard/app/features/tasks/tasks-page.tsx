import { ListTodo } from 'lucide-react';
import { useState } from 'react';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { isFiltered, type TaskSearch } from '../../live/task-filter.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { plural } from '../../format/numbers.ts';
import { BulkCancel } from './bulk-cancel.tsx';
import { TaskFilters } from './task-filters.tsx';
import { TaskTable } from './task-table.tsx';
import styles from './tasks.module.css';
import { useTaskList } from './use-task-list.ts';

interface Props {
  search: TaskSearch;
  mayCancel: boolean;
  onSearch(search: TaskSearch): void;
  onOpen(taskId: string): void;
  onCreate(): void;
}

/** Every task of the key, newest first, changing in place. */
export function TasksPage({ search, mayCancel, onSearch, onOpen, onCreate }: Props) {
  const list = useTaskList(search);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [cancelling, setCancelling] = useState<'selected' | 'all' | null>(null);
  useShortcuts({ '.': list.showWaiting });
  const canCancelAll = mayCancel && (search.status === 'queued' || search.status === 'running') && list.ids.length > 0;

  return (
    <Page
      title="Tasks"
      actions={
        <>
          {selected.size > 0 && mayCancel && (
            <Button variant="danger" onClick={() => setCancelling('selected')}>
              Cancel {selected.size} selected
            </Button>
          )}
          {canCancelAll && selected.size === 0 && (
            <Button variant="danger" onClick={() => setCancelling('all')}>
              Cancel all {search.status}
            </Button>
          )}
        </>
      }
    >
      <TaskFilters search={search} onSearch={onSearch} />
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
        <div className={styles.list}>
          {list.waiting.length > 0 && (
            <Button className={styles.pill} onClick={list.showWaiting}>
              {plural(list.waiting.length, 'new task')} <kbd>.</kbd>
            </Button>
          )}
          <TaskTable list={list} selected={selected} onSelect={setSelected} onOpen={onOpen} selectable={mayCancel} />
        </div>
      )}
      {cancelling && (
        <BulkCancel
          search={search}
          taskIds={cancelling === 'selected' ? [...selected] : null}
          onClose={() => {
            setCancelling(null);
            setSelected(new Set());
          }}
        />
      )}
    </Page>
  );
}
