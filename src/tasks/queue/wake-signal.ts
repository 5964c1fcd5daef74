import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus } from '../../platform/events/bus.ts';

const TOPIC = 'work';

/** Says in every process that tasks wait to be taken. It may not be heard: workers look by themselves too. */
@Injectable()
export class WorkBell {
  private readonly hearers = new Set<() => void>();
  private ringing = false;

  constructor(@Inject(BUS) private readonly bus: Bus) {}

  /** Call after the commit; once for all the calls of a loop turn. */
  ring(): void {
    if (this.ringing) return;
    this.ringing = true;
    setImmediate(() => {
      this.ringing = false;
      for (const hearer of this.hearers) hearer();
      this.bus.publish(TOPIC, '');
    });
  }

  hear(hearer: () => void): void {
    if (this.hearers.size === 0) this.bus.hear(TOPIC, () => this.hearers.forEach((each) => each()));
    this.hearers.add(hearer);
  }
}
