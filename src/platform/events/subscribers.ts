import { eventsReceived } from './bus-metrics.ts';

/** The subscriptions of this process: the part of a bus that is independent of its transport. */
export class Subscribers {
  private readonly byTopic = new Map<string, Set<(bodies: string[]) => void>>();
  private readonly reconnectListeners: ((missedS: number) => void)[] = [];

  subscribe(topic: string, listener: (bodies: string[]) => void): () => void {
    const listeners = this.byTopic.get(topic) ?? new Set();
    this.byTopic.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  onReconnect(listener: (missedS: number) => void): void {
    this.reconnectListeners.push(listener);
  }

  deliver(events: readonly (readonly [topic: string, body: string])[]): void {
    for (const [topic, entries] of Map.groupBy(events, ([topic]) => topic)) {
      eventsReceived(topic, entries.length);
      for (const listener of this.byTopic.get(topic) ?? []) listener(entries.map(([, body]) => body));
    }
  }

  reportMissed(missedS: number): void {
    for (const listener of this.reconnectListeners) listener(missedS);
  }
}
