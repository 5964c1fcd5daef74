import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../config/config.ts';
import { Interval } from '../../run/interval.ts';
import { Metrics } from '../../observe/measuring/metrics.ts';
import { DAY_MS } from '../../schema/time.ts';
import { Sql } from '../sql.ts';
import { type DropResult, isInUse } from './drop-partition.ts';
import { dropExpired, makeAhead, type SweptTables } from './partition-rows.ts';
import { coveredUntil } from './ranges.ts';
import { type Partition, rangeOf } from './read-partitions.ts';

/** Seconds between sweeps. Partitions are made days ahead. */
const SWEEP_EVERY_S = 600;
/** Seconds until a partition that is in use is tried again, at first. A backup uses all of them for hours, and each try stops requests for up to 50 ms. */
const RETRY_S = 5;

/** Runs in every worker process: one of them makes the partitions of the days to come and drops those that are past every retention. */
@Injectable()
export class PartitionSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('partitions');
  private readonly interval = new Interval(() => this.runOnce());
  private readonly registered: SweptTables[] = [];
  /** As many partitions' days there are partitions for, by the name of the first table. */
  private readonly ahead = new Map<string, number>();
  private retryS = RETRY_S;

  constructor(
    private readonly config: Config,
    private readonly sql: Sql,
    metrics: Metrics,
  ) {
    if (config.role !== 'api') {
      metrics.gauges(
        'darkroom_partitions_ahead',
        'Partitions for days to come; of the table that has the fewest.',
        [],
        (set) => {
          if (this.ahead.size > 0) set({}, Math.min(...this.ahead.values()));
        },
      );
    }
  }

  /** Before the application starts. */
  register(tables: SweptTables): void {
    this.registered.push(tables);
  }

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.interval.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /** @returns seconds until the next sweep */
  private async runOnce(): Promise<number> {
    let isDone = true;
    for (const tables of this.registered) {
      try {
        if (!(await this.sweep(tables))) isDone = false;
      } catch (err) {
        if (isInUse(err)) isDone = false;
        else this.logger.warn({ event: 'partitions.sweep_failed', err });
      }
    }
    const pauseS = isDone ? SWEEP_EVERY_S : this.retryS;
    this.retryS = isDone ? RETRY_S : Math.min(2 * this.retryS, SWEEP_EVERY_S);
    return pauseS;
  }

  /** @returns whether nothing is left to try again soon */
  private async sweep(tables: SweptTables): Promise<boolean> {
    const days = this.config.taskPartitionDays;
    const { partitions, made, expired, nowMs } = await makeAhead(this.sql, tables, days);
    const coveredMs = coveredUntil(partitions.map(rangeOf), nowMs) - nowMs;
    this.ahead.set(tables.tables[0].name, coveredMs / (days * DAY_MS));
    if (made.length > 0) this.logger.log({ event: 'partitions.made', partitions: made });
    let isDone = true;
    for (const partition of expired) if ((await this.drop(tables, partition)) === 'in_use') isDone = false;
    return isDone;
  }

  /** One that cannot be dropped, such as one that a view of the operator reads, does not keep the others. */
  private async drop(tables: SweptTables, partition: Partition): Promise<DropResult> {
    try {
      const result = await dropExpired(this.sql, tables, partition);
      if (result === 'dropped') this.logger.log({ event: 'partitions.dropped', partitions: [partition.name] });
      return result;
    } catch (err) {
      if (isInUse(err)) return 'in_use';
      this.logger.warn({ event: 'partitions.drop_failed', partition: partition.name, err });
      return 'needed';
    }
  }
}
