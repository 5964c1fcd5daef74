import { createRouter } from '@tanstack/react-router';
import { batchesRoute, batchRoute } from './batches.tsx';
import { compareRoute } from './compare.tsx';
import { createScreenRoute, homeRoute } from './create.tsx';
import { galleryRoute, pictureRoute } from './gallery.tsx';
import {
  aboutRoute,
  connectRoute,
  endpointRoute,
  eventRoute,
  keyRoute,
  keysRoute,
  newEndpointRoute,
  newKeyRoute,
  providersRoute,
  queueRoute,
  settingsRoute,
  usageRoute,
  webhooksRoute,
} from './instance.tsx';
import { nowhereRoute } from './nowhere.tsx';
import { rootRoute } from './root.tsx';
import { parseSearch, stringifySearch } from './search.ts';
import { signInRoute } from './sign-in.tsx';
import { signedInRoute } from './signed-in.tsx';
import { taskRoute } from './task.tsx';
import { tasksRoute } from './tasks.tsx';

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    signedInRoute.addChildren([
      homeRoute,
      createScreenRoute,
      tasksRoute,
      taskRoute,
      batchesRoute,
      batchRoute,
      galleryRoute.addChildren([pictureRoute]),
      compareRoute,
      connectRoute,
      keysRoute,
      newKeyRoute,
      keyRoute,
      webhooksRoute,
      newEndpointRoute,
      endpointRoute,
      eventRoute,
      queueRoute,
      providersRoute,
      usageRoute,
      settingsRoute,
      aboutRoute,
      nowhereRoute,
    ]),
  ]),
  basepath: '/app',
  scrollRestoration: true,
  parseSearch,
  stringifySearch,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
