import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { part } from '../api/late-part.ts';
import { pick } from './search.ts';
import { signedInRoute } from './signed-in.tsx';

const getParentRoute = () => signedInRoute;

export const batchesRoute = createRoute({
  getParentRoute,
  path: 'batches',
  validateSearch: pick('state'),
  component: lazyRouteComponent(
    part(() => import('./batches-screen.tsx')),
    'BatchesScreen',
  ),
});

export const batchRoute = createRoute({
  getParentRoute,
  path: 'batches/$batchId',
  validateSearch: pick('view'),
  component: lazyRouteComponent(
    part(() => import('./batches-screen.tsx')),
    'BatchScreen',
  ),
});
