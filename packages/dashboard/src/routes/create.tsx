import { createRoute, redirect, useNavigate, useRouter } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { CreatePage } from '../features/create/create-page.tsx';
import { currentRuns, onRuns } from '../features/create/runs.ts';
import { isFinal } from '../live/task-store.ts';
import { useTasks } from '../live/use-task.ts';
import { pick } from './search.ts';
import { signedInRoute, useSession } from './signed-in.tsx';
import { useTitle } from './title.ts';

export const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/create' });
  },
});

export const createScreenRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'create',
  validateSearch: pick('model', 'from', 'as', 'ref', 'animate', 'view'),
  component: Create,
});

function Create() {
  const search = createScreenRoute.useSearch();
  const navigate = useNavigate();
  const { history } = useRouter();
  const scopes = useSession()?.api_key.scopes ?? [];
  const may = {
    create: scopes.includes('generations:write'),
    cancel: scopes.includes('tasks:cancel'),
    read: scopes.includes('tasks:read'),
  };
  const view = (fileId: string | null, replace: boolean) => {
    if (fileId)
      return void navigate({ to: '/create', search: { ...search, view: fileId }, replace, resetScroll: false });
    // Esc does the same as Back, unless the address led directly to the picture.
    if (history.canGoBack()) history.back();
    else void navigate({ to: '/create', search: {}, resetScroll: false });
  };
  const taken = () => {
    if (!history.location.pathname.endsWith('/create')) return; // the user has left meanwhile
    void navigate({ to: '/create', search: { view: search.view }, replace: true, resetScroll: false });
  };
  return (
    <>
      <CreateTitle />
      <CreatePage search={search} may={may} onView={view} onTaken={taken} />
    </>
  );
}

/** The title `47 % · A pier at night` while a run of this tab is unfinished, for users who look at another tab. */
function CreateTitle() {
  const runs = useSyncExternalStore(onRuns, currentRuns);
  const ids = runs.map(({ taskId }) => taskId);
  const running = useTasks(ids, { reads: false }).find((task) => task && !isFinal(task));
  useTitle(running ? `${running.progress} % · ${running.prompt.slice(0, 60)}` : 'Create');
  return null;
}
