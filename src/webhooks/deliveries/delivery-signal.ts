import { Injectable } from '@nestjs/common';
import { Bus } from '../../platform/events/bus.ts';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';

const TOPIC = 'deliver';

type Listener = (endpointIds: string[]) => void;

/** Tells workers that endpoints have something due. A lost signal does no harm, because workers also poll. */
@Injectable()
export class DeliverySignal {
  private listener: Listener | undefined;

  constructor(private readonly bus: Bus) {}

  /**
   * Tells this process, if it makes attempts itself. Otherwise tells the other processes. They need no signal in the
   * first case, because they poll and find what a busy worker leaves. Call this after the commit.
   */
  notify(endpointIds: string[]): void {
    const { listener } = this;
    if (listener) outsideOfRequests(() => listener(endpointIds));
    else for (const id of endpointIds) this.bus.publish(TOPIC, id);
  }

  subscribe(listener: Listener): void {
    this.listener = listener;
    this.bus.subscribe(TOPIC, listener);
  }
}
