import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { BUS, type Bus } from '../../platform/events/bus.ts';
import { Interval } from '../../platform/interval.ts';
import { ProviderRegistry } from '../../providers/registry.ts';
import { CircuitResets } from '../sql/circuit-resets.ts';

const TOPIC = 'circuit-reset';
/** So that a process without the bus knows it within 5 s. */
const EVERY_S = 4;

/** In every process: closes the circuits that an operator has closed since the last look. */
@Injectable()
export class FollowCircuitResets implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('operations');
  private readonly interval = new Interval(() => this.runOnTime());
  private seen: Map<string, number> | null = null;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly rows: CircuitResets,
    private readonly providers: ProviderRegistry,
    @Inject(BUS) private readonly bus: Bus,
  ) {}

  onApplicationBootstrap(): void {
    this.bus.subscribe(TOPIC, () => void this.runNow());
    this.interval.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
    await this.running;
  }

  /** Call after the commit of a reset. */
  async changed(): Promise<void> {
    this.bus.publish(TOPIC, '');
    await this.runNow();
  }

  private runNow(): Promise<void> {
    this.running = this.running.then(() => this.run());
    return this.running;
  }

  private async runOnTime(): Promise<number> {
    await this.runNow();
    return EVERY_S;
  }

  private async run(): Promise<void> {
    try {
      const { places } = this.providers;
      const resets = await this.rows.read(places.map(({ endpoint }) => endpoint));
      const { seen } = this;
      this.seen = resets;
      if (!seen) return; // the circuits of a process that starts are closed
      for (const { endpoint, circuit } of places) {
        if ((resets.get(endpoint) ?? 0) > (seen.get(endpoint) ?? 0)) circuit.reset();
      }
    } catch (err) {
      this.logger.warn({ event: 'circuit.reset_failed', err });
    }
  }
}
