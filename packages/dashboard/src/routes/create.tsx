import { createRoute, redirect } from '@tanstack/react-router';
import { CreatePage } from '../features/create/create-page.tsx';
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
  validateSearch: pick('model', 'from', 'as', 'ref'),
  component: Create,
});

function Create() {
  useTitle('Create');
  const search = createScreenRoute.useSearch();
  const scopes = useSession()?.api_key.scopes ?? [];
  const may = { create: scopes.includes('generations:write'), cancel: scopes.includes('tasks:cancel') };
  return <CreatePage search={search} may={may} />;
}
