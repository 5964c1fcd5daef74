import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { TaskPage } from '../features/task/task-page.tsx';
import { isTaskTab } from '../features/task/task-tabs.tsx';
import { useTask } from '../live/use-task.ts';
import { Forbidden } from '../parts/forbidden.tsx';
import { Page } from '../parts/page.tsx';
import { statusWord } from '../parts/status-chip.tsx';
import { useSession } from './signed-in.tsx';
import { useTitle } from './title.ts';

export function TaskScreen() {
  const { taskId } = useParams({ from: '/signed-in/tasks/$taskId' });
  const { tab, output, compare, view } = useSearch({ from: '/signed-in/tasks/$taskId' });
  const navigate = useNavigate();
  const { history } = useRouter();
  const scopes = useSession()?.api_key.scopes ?? [];
  if (!scopes.includes('tasks:read')) {
    return (
      <Page title="Task">
        <Forbidden scope="tasks:read" what="see tasks" />
      </Page>
    );
  }
  const stay = (search: { tab?: string; output?: string; compare?: string; view?: string }, replace: boolean) =>
    void navigate({
      to: '/tasks/$taskId',
      params: { taskId },
      search: (before) => ({ ...before, ...search }),
      replace,
      resetScroll: false,
    });
  return (
    <>
      <TaskTitle taskId={taskId} />
      <TaskPage
        key={taskId}
        taskId={taskId}
        output={Math.max(1, Number(output) || 1)}
        tab={isTaskTab(tab) ? tab : 'outputs'}
        may={{
          cancel: scopes.includes('tasks:cancel'),
          create: scopes.includes('generations:write'),
          webhooks: scopes.includes('webhooks:manage'),
        }}
        isFull={view === 'full'}
        onFull={(isFull) => {
          if (isFull) return stay({ view: 'full' }, false);
          // Esc does the same as Back, unless the address led directly to the picture.
          if (history.canGoBack()) history.back();
          else stay({ view: '' }, true);
        }}
        compare={compare ?? null}
        onCompare={(next) => stay({ compare: next ?? '' }, false)}
        onOutput={(next) => stay({ output: String(next) }, true)}
        onTab={(next) => stay({ tab: next }, false)}
        onOpenTask={(next) => void navigate({ to: '/tasks/$taskId', params: { taskId: next } })}
        onCreateFrom={(search) => void navigate({ to: '/create', search })}
        onDeleted={() => void navigate({ to: '/tasks' })}
      />
    </>
  );
}

/** The title `47 % · A lighthouse at dusk` while the task runs, else its state and the prompt. */
function TaskTitle({ taskId }: { taskId: string }) {
  const row = useTask(taskId);
  const state =
    row && (row.status === 'RUNNING' ? `${row.progress} %` : statusWord({ ...row, errorCode: row.error?.code }));
  useTitle([state, row?.prompt.slice(0, 60) ?? 'Task'].filter(Boolean).join(' · '));
  return null;
}
