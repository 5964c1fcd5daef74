import { Injectable } from '@nestjs/common';
import { Bus } from '../../platform/events/bus.ts';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';

const TOPIC = 'work';

/**
 * Notifies the workers of every process that tasks wait to be claimed. A notification can be lost: workers poll too.
 */
@Injectable()
export class WakeSignal {
  private readonly subscribers = new Set<() => void>();
  private isScheduled = false;

  constructor(private readonly bus: Bus) {}

  /** Call after the commit. All calls of one event-loop turn are published once. */
  notify(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    outsideOfRequests(() =>
      setImmediate(() => {
        this.isScheduled = false;
        for (const subscriber of this.subscribers) subscriber();
        this.bus.publish(TOPIC, '');
      }),
    );
  }

  subscribe(subscriber: () => void): void {
    if (this.subscribers.size === 0) this.bus.subscribe(TOPIC, () => this.subscribers.forEach((each) => each()));
    this.subscribers.add(subscriber);
  }
}
