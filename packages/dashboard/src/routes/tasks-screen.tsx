import { useNavigate, useSearch } from '@tanstack/react-router';
import { TasksPage } from '../features/tasks/tasks-page.tsx';
import { Forbidden } from '../parts/forbidden.tsx';
import { Page } from '../parts/page.tsx';
import { useSession } from './signed-in.tsx';
import { useTitle } from './title.ts';

export function TasksScreen() {
  useTitle('Tasks');
  const { peek, ...search } = useSearch({ from: '/signed-in/tasks' });
  const navigate = useNavigate();
  const scopes = useSession()?.api_key.scopes ?? [];
  if (!scopes.includes('tasks:read')) {
    return (
      <Page title="Tasks">
        <Forbidden scope="tasks:read" what="see tasks" />
      </Page>
    );
  }
  return (
    <TasksPage
      search={search}
      mayCreate={scopes.includes('generations:write')}
      peek={peek ?? null}
      onPeek={(next, replace) =>
        void navigate({ to: '/tasks', search: { ...search, peek: next ?? '' }, replace, resetScroll: false })
      }
      mayCancel={scopes.includes('tasks:cancel')}
      onSearch={(next, isTyping = false) => void navigate({ to: '/tasks', search: { ...next }, replace: isTyping })}
      onCreate={() => void navigate({ to: '/create' })}
    />
  );
}
