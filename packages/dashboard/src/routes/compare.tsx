import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { part } from '../api/late-part.ts';
import { pick } from './search.ts';
import { signedInRoute } from './signed-in.tsx';

export const compareRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'compare',
  validateSearch: pick('outputs', 'tasks', 'view'),
  component: lazyRouteComponent(
    part(() => import('./compare-screen.tsx')),
    'CompareScreen',
  ),
});
