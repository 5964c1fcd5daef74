import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';

const SWEEP_MS = 5_000;
/** How long another process's connection must have been gone; longer than it takes to come back. */
const GONE_MS = 15_000;
/** How long one of our own locks must have been on a job we know nothing of; longer than it may wait in memory. */
const FORGOTTEN_MS = 3_000;

/**
 * Frees jobs that a killed process, or a reply lost in a restart of the database, left locked; graphile-worker itself
 * would wait four hours. Every living runner keeps a connection of its own name (holder-name.ts), so a lock under any
 * other name has lost its holder.
 */
export class StrayJobs {
  private readonly log = new Logger(StrayJobs.name);
  private readonly own = new Set<string>();
  private readonly running = new Set<string>();
  /** When each stray was first seen: the same job under the same lock. */
  private seen = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly pool: Pool,
    private readonly sweepMs = SWEEP_MS,
    private readonly goneMs = GONE_MS,
    private readonly forgottenMs = FORGOTTEN_MS,
  ) {}

  /** A pool of this process. */
  holds(poolId: string): void {
    this.own.add(poolId);
  }

  began(jobId: string): void {
    this.running.add(jobId);
  }

  ended(jobId: string): void {
    this.running.delete(jobId);
  }

  start(): void {
    this.timer = setInterval(() => {
      this.sweeping = this.sweep().catch((error: Error) => this.log.warn({ event: 'jobs.sweep_failed', err: error }));
    }, this.sweepMs);
    this.timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.sweeping;
  }

  private async sweep(): Promise<void> {
    const { rows } = await this.pool.query<{ id: string; locked_by: string; held: boolean }>(
      `select id, locked_by,
              exists (select from pg_stat_activity a
                       where a.datname = current_database() and a.application_name = locked_by) as held
         from graphile_worker.jobs
        where locked_at is not null`,
    );
    const now = Date.now();
    const strays = rows.filter((job) => (this.own.has(job.locked_by) ? !this.running.has(job.id) : !job.held));
    this.seen = new Map(
      strays.map(({ id, locked_by }) => [`${id} ${locked_by}`, this.seen.get(`${id} ${locked_by}`) ?? now]),
    );
    const lost = strays.filter(({ id, locked_by }) => {
      const strayMs = now - this.seen.get(`${id} ${locked_by}`)!;
      return strayMs >= (this.own.has(locked_by) ? this.forgottenMs : this.goneMs);
    });
    if (lost.length === 0) return;
    await this.pool.query(
      `update graphile_worker._private_jobs as jobs set locked_at = null, locked_by = null
         from unnest($1::bigint[], $2::text[]) as stray (id, locked_by)
        where jobs.id = stray.id and jobs.locked_by = stray.locked_by`,
      [lost.map((job) => job.id), lost.map((job) => job.locked_by)],
    );
    this.log.warn({ event: 'jobs.freed', count: lost.length });
  }
}
