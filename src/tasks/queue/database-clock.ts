import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Interval } from '../../platform/run/interval.ts';
import { TakeoverPause } from './takeover-pause.ts';
import { ChangedTasks } from '../sql/changed-tasks.ts';

const SAMPLE_EVERY_S = 10;
/** How many samples are taken each time. The one with the shortest round trip is the most exact. */
const SAMPLES = 3;

interface Sample {
  databaseMs: number;
  /** On the monotonic clock. */
  takenAtMs: number;
  roundTripMs: number;
}

/**
 * An estimate of the database's clock, for times that a response shows before they are stored. The clocks of processes
 * differ, and rows expire by the clock of the database. This class samples the database's clock in the background, so a
 * creation needs no extra statement. Between samples the monotonic clock counts on. See
 * docs/decisions/0021-times-of-the-database.md.
 */
@Injectable()
export class DatabaseClock implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('clock');
  private readonly samples = new Interval(() => this.resample());
  private offsetMs = Date.now() - performance.now();

  constructor(
    private readonly changed: ChangedTasks,
    standstills: TakeoverPause,
  ) {
    standstills.onStandstill(() => void this.resample()); // the monotonic clock may have stopped
  }

  async onModuleInit(): Promise<void> {
    await this.sample();
    this.samples.start(SAMPLE_EVERY_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.samples.stop();
  }

  /** Unix milliseconds. */
  nowMs(): number {
    return Math.floor(performance.now() + this.offsetMs);
  }

  private async resample(): Promise<number> {
    await this.sample().catch((err: unknown) => this.logger.warn({ event: 'clock.sample_failed', err }));
    return SAMPLE_EVERY_S;
  }

  private async sample(): Promise<void> {
    let best: Sample | undefined;
    for (let nth = 0; nth < SAMPLES; nth += 1) {
      const sentAtMs = performance.now();
      const databaseMs = await this.changed.nowMs();
      const roundTripMs = performance.now() - sentAtMs;
      if (!best || roundTripMs < best.roundTripMs)
        best = { databaseMs, takenAtMs: sentAtMs + roundTripMs / 2, roundTripMs };
    }
    if (best) this.offsetMs = best.databaseMs - best.takenAtMs;
  }
}
