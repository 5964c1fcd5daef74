import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from './search.ts';
import { signedInRoute } from './signed-in.tsx';

export const compareRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'compare',
  validateSearch: pick('outputs', 'tasks'),
  component: lazyRouteComponent(() => import('./compare-screen.tsx'), 'CompareScreen'),
});
