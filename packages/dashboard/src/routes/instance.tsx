import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { part } from '../api/late-part.ts';
import { pick } from './search.ts';
import { signedInRoute } from './signed-in.tsx';

const getParentRoute = () => signedInRoute;

export const keysRoute = createRoute({
  getParentRoute,
  path: 'keys',
  component: lazyRouteComponent(
    part(() => import('./keys-screen.tsx')),
    'KeysScreen',
  ),
});

export const newKeyRoute = createRoute({
  getParentRoute,
  path: 'keys/new',
  component: lazyRouteComponent(
    part(() => import('./keys-screen.tsx')),
    'KeysScreen',
  ),
});

export const keyRoute = createRoute({
  getParentRoute,
  path: 'keys/$keyId',
  component: lazyRouteComponent(
    part(() => import('./keys-screen.tsx')),
    'KeyScreen',
  ),
});

export const webhooksRoute = createRoute({
  getParentRoute,
  path: 'webhooks',
  component: lazyRouteComponent(
    part(() => import('./webhooks-screen.tsx')),
    'WebhooksScreen',
  ),
});

export const newEndpointRoute = createRoute({
  getParentRoute,
  path: 'webhooks/new',
  component: lazyRouteComponent(
    part(() => import('./webhooks-screen.tsx')),
    'WebhooksScreen',
  ),
});

export const eventRoute = createRoute({
  getParentRoute,
  path: 'webhooks/$endpointId/events/$eventId',
  component: lazyRouteComponent(
    part(() => import('./webhooks-screen.tsx')),
    'EventScreen',
  ),
});

export const endpointRoute = createRoute({
  getParentRoute,
  path: 'webhooks/$endpointId',
  validateSearch: pick('outcome', 'event', 'task', 'from', 'to'),
  component: lazyRouteComponent(
    part(() => import('./webhooks-screen.tsx')),
    'EndpointScreen',
  ),
});

export const queueRoute = createRoute({
  getParentRoute,
  path: 'queue',
  component: lazyRouteComponent(
    part(() => import('./queue-screen.tsx')),
    'QueueScreen',
  ),
});

export const providersRoute = createRoute({
  getParentRoute,
  path: 'providers',
  component: lazyRouteComponent(
    part(() => import('./providers-screen.tsx')),
    'ProvidersScreen',
  ),
});

export const usageRoute = createRoute({
  getParentRoute,
  path: 'usage',
  validateSearch: pick('range', 'by', 'view'),
  component: lazyRouteComponent(
    part(() => import('./usage-screen.tsx')),
    'UsageScreen',
  ),
});

export const connectRoute = createRoute({
  getParentRoute,
  path: 'connect',
  component: lazyRouteComponent(
    part(() => import('./connect-screen.tsx')),
    'ConnectScreen',
  ),
});

export const aboutRoute = createRoute({
  getParentRoute,
  path: 'settings/about',
  component: lazyRouteComponent(
    part(() => import('./settings-screen.tsx')),
    'AboutScreen',
  ),
});

export const settingsRoute = createRoute({
  getParentRoute,
  path: 'settings',
  component: lazyRouteComponent(
    part(() => import('./settings-screen.tsx')),
    'SettingsScreen',
  ),
});
