import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { part } from '../api/late-part.ts';
import { pick } from './search.ts';
import { signedInRoute } from './signed-in.tsx';

/** The viewer is a child route, so that the gallery stays in place below it. */
export const galleryRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'gallery',
  validateSearch: pick('kind', 'model', 'from', 'to', 'q', 'size', 'expired', 'kept', 'collection'),
  component: lazyRouteComponent(
    part(() => import('./gallery-screen.tsx')),
    'GalleryScreen',
  ),
});

export const pictureRoute = createRoute({
  getParentRoute: () => galleryRoute,
  path: '$fileId',
  component: () => null,
});
