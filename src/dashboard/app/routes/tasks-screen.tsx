import { useNavigate, useSearch } from '@tanstack/react-router';
import { TasksPage } from '../features/tasks/tasks-page.tsx';
import { Forbidden } from '../parts/forbidden.tsx';
import { Page } from '../parts/page.tsx';
import { useSession } from './signed-in.tsx';
import { useTitle } from './title.ts';

export function TasksScreen() {
  useTitle('Tasks');
  const search = useSearch({ from: '/signed-in/tasks' });
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
      mayCancel={scopes.includes('tasks:cancel')}
      onSearch={(next) => void navigate({ to: '/tasks', search: { ...next } })}
      onOpen={(taskId) => void navigate({ to: '/tasks/$taskId', params: { taskId } })}
      onCreate={() => void navigate({ to: '/create' })}
    />
  );
}
