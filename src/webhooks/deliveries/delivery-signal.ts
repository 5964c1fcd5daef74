import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus } from '../../platform/events/bus.ts';

const TOPIC = 'deliver';

/** Says for which endpoints something is due. It may not be heard: workers look by themselves too. */
@Injectable()
export class DeliverySignal {
  private hearer: ((endpointIds: string[]) => void) | undefined;

  constructor(@Inject(BUS) private readonly bus: Bus) {}

  /**
   * Call after the commit. Other processes are told only where this one makes no attempts itself: what a busy one leaves,
   * they find.
   */
  notify(endpointIds: string[]): void {
    if (this.hearer) this.hearer(endpointIds);
    else for (const id of endpointIds) this.bus.publish(TOPIC, id);
  }

  subscribe(hearer: (endpointIds: string[]) => void): void {
    this.hearer = hearer;
    this.bus.subscribe(TOPIC, hearer);
  }
}
