import type { Metrics } from './metrics.ts';

/** Connections over which changes are pushed, and how many subscriptions they carry. */
interface LiveSource {
  connections: () => number;
  subscriptions: () => number;
}

type Transport = 'websocket' | 'sse';

const sources = new WeakMap<Metrics, Map<Transport, LiveSource>>();

/** Several modules register sources, but each gauge exists once. */
export function registerLiveConnections(metrics: Metrics, transport: Transport, source: LiveSource): void {
  const known = sources.get(metrics);
  if (known) {
    known.set(transport, source);
    return;
  }
  const all = new Map([[transport, source]]);
  sources.set(metrics, all);
  metrics.gauges('darkroom_live_connections', 'Open WebSockets and event streams.', ['transport'], (set) => {
    for (const [transport, { connections }] of all) set({ transport }, connections());
  });
  metrics.gauges('darkroom_live_subscriptions', 'Subscriptions on these connections.', ['transport'], (set) => {
    for (const [transport, { subscriptions }] of all) set({ transport }, subscriptions());
  });
}
