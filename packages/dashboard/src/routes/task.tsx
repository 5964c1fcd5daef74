import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { part } from '../api/late-part.ts';
import { pick } from './search.ts';
import { signedInRoute } from './signed-in.tsx';

export const taskRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'tasks/$taskId',
  validateSearch: pick('tab', 'output', 'compare', 'view'),
  component: lazyRouteComponent(
    part(() => import('./task-screen.tsx')),
    'TaskScreen',
  ),
});
