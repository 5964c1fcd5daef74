import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus } from '../../platform/events/bus.ts';

const TOPIC = 'work';

/** Says in every process that tasks wait to be taken. It may not be heard: workers look by themselves too. */
@Injectable()
export class WakeSignal {
  private readonly subscribers = new Set<() => void>();
  private notifying = false;

  constructor(@Inject(BUS) private readonly bus: Bus) {}

  /** Call after the commit; once for all the calls of a loop turn. */
  notify(): void {
    if (this.notifying) return;
    this.notifying = true;
    setImmediate(() => {
      this.notifying = false;
      for (const hearer of this.subscribers) hearer();
      this.bus.publish(TOPIC, '');
    });
  }

  subscribe(hearer: () => void): void {
    if (this.subscribers.size === 0) this.bus.subscribe(TOPIC, () => this.subscribers.forEach((each) => each()));
    this.subscribers.add(hearer);
  }
}
