import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Bus } from '../../platform/events/bus.ts';
import { Interval } from '../../platform/run/interval.ts';
import { ProviderRegistry } from '../../providers/registry.ts';
import { CircuitResets } from './sql/circuit-resets.ts';

const TOPIC = 'circuit-reset';
/** Seconds between runs, so that a process without the bus learns of a reset within 5 s. */
const EVERY_S = 4;

/** Runs in every process. Closes the circuits of this process whose places operators have reset since the last run. */
@Injectable()
export class CircuitResetsWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('operations');
  private readonly interval = new Interval(() => this.run());
  private seen: Map<string, number> | null = null;

  constructor(
    private readonly rows: CircuitResets,
    private readonly providers: ProviderRegistry,
    private readonly bus: Bus,
  ) {}

  onApplicationBootstrap(): void {
    this.bus.subscribe(TOPIC, () => void this.interval.runNow());
    this.interval.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /** Tells all processes that an operator has reset circuits. Call it after the commit. */
  async changed(): Promise<void> {
    this.bus.publish(TOPIC, '');
    await this.interval.runNow();
  }

  /** @returns seconds until the next run */
  private async run(): Promise<number> {
    try {
      const { places } = this.providers;
      const resets = await this.rows.read(places.map(({ endpoint }) => endpoint));
      const { seen } = this;
      this.seen = resets;
      // The first run resets nothing, because a process starts with closed circuits.
      const reset = places.filter(({ endpoint }) => seen && (resets.get(endpoint) ?? 0) > (seen.get(endpoint) ?? 0));
      for (const { circuit } of reset) circuit.reset();
    } catch (err) {
      this.logger.warn({ event: 'circuit.reset_failed', err });
    }
    return EVERY_S;
  }
}
