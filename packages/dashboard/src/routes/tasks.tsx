import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { part } from '../api/late-part.ts';
import { pick } from './search.ts';
import { signedInRoute } from './signed-in.tsx';

export const tasksRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'tasks',
  validateSearch: pick(
    'status',
    'kind',
    'model',
    'from',
    'to',
    'q',
    'error',
    'batch',
    'kept',
    'collection',
    'meta.*',
    'peek',
  ),
  component: lazyRouteComponent(
    part(() => import('./tasks-screen.tsx')),
    'TasksScreen',
  ),
});
