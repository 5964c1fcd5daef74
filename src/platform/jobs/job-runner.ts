import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import {
  type Job,
  type JobHelpers,
  run,
  type Runner,
  type RunnerOptions,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker';
import { holdName } from './holder-name.ts';
import { PatientPool } from './patient-pool.ts';
import { quietLogger } from './quiet-logger.ts';
import { StrayJobs } from './stray-jobs.ts';

export interface JobRun {
  jobId: string;
  /** 1 at the first run. */
  attempt: number;
  /** Aborts when the process begins to stop: hand over whatever another process can carry on. */
  draining: AbortSignal;
  /** Aborts when the grace period is over: settle within 5 s. */
  signal: AbortSignal;
}

/** @throws whatever makes the job run again later, until its attempts are used up */
export type JobHandler<Payload extends object> = (payload: Payload, run: JobRun) => Promise<void>;

/**
 * How graphile-worker works here; milliseconds. Jobs are fetched a batch at a time. Those a full process fetched but has
 * not begun go back after `ttl`, so that another process can run them; new jobs are told by NOTIFY, and the poll finds
 * those whose time has come. After a fetch that found nothing the next one waits about `durationMs`, so that a burst of
 * commits does not become a burst of fetches; a single job after a quiet moment is fetched at once.
 */
const settings = (concurrency: number): NonNullable<RunnerOptions['preset']> => ({
  worker: {
    concurrentJobs: concurrency,
    pollInterval: 500,
    preparedStatements: true,
    localQueue: { size: concurrency, ttl: 500, refetchDelay: { durationMs: 10, threshold: 0, maxAbortThreshold: 50 } },
    completeJobBatchDelay: 5,
    failJobBatchDelay: 5,
    gracefulShutdownAbortTimeout: 24 * 3600_000, // our own signals say when, below
  },
});

/** Statements are short and batched: fetch, complete, fail, give back, sweep. One connection more listens, one holds the name. */
const POOL_SIZE = 6;
const RESTART_MS = { first: 500, longest: 15_000 };
/** From the abort of the running jobs to leaving them behind. */
const SETTLE_MS = 5_000;

/** Runs the jobs of one queue in this process, and comes back by itself when the database does. */
export class JobRunner {
  readonly names: string[];
  private readonly log = new Logger(JobRunner.name);
  private readonly pool: PatientPool;
  private readonly strays: StrayJobs;
  private readonly tasks: TaskList;
  private readonly draining = new AbortController();
  private readonly aborting = new AbortController();
  /** The newest last; older ones are ending, with jobs that still run. */
  private readonly runs = new Set<Runner>();
  private readonly listening = new Set<Runner['events']>();
  private supervised: Promise<void> | undefined;

  constructor(
    url: string,
    handlers: Map<string, JobHandler<object>>,
    private readonly concurrency: number,
  ) {
    this.names = [...handlers.keys()];
    this.pool = new PatientPool({
      connectionString: url,
      max: POOL_SIZE,
      connectionTimeoutMillis: 5000,
      statement_timeout: 30_000,
      query_timeout: 35_000, // the server has given up by then, so the connection is dead
      keepAlive: true,
      application_name: 'darkroom:jobs',
    });
    this.strays = new StrayJobs(this.pool);
    this.tasks = Object.fromEntries([...handlers].map(([name, handler]) => [name, this.wrap(name, handler)]));
  }

  async start(): Promise<void> {
    const first = Promise.withResolvers<void>();
    this.supervised = this.supervise(first.resolve);
    await first.promise;
    this.strays.start();
  }

  isHearing(): boolean {
    return this.listening.size > 0;
  }

  async stop(graceMs: number): Promise<void> {
    this.draining.abort();
    this.pool.hurry();
    const abort = setTimeout(() => this.aborting.abort(), graceMs);
    const leave = setTimeout(() => {
      for (const run of this.runs) run.kill().catch(() => undefined);
    }, graceMs + SETTLE_MS);
    const giveUp = sleep(graceMs + SETTLE_MS * 2, undefined, { ref: false });
    await Promise.race([this.end(), giveUp]);
    clearTimeout(abort);
    clearTimeout(leave);
    await Promise.race([this.pool.end().catch(() => undefined), sleep(1000, undefined, { ref: false })]);
  }

  private async end(): Promise<void> {
    await this.strays.stop();
    await Promise.all([...this.runs].map((run) => run.stop().catch(() => undefined)));
    await Promise.all([...this.runs].map((run) => run.promise.catch(() => undefined)));
    await this.supervised;
  }

  /** graphile-worker ends its runner over some failures; then a new one takes over while the old one's jobs end. */
  private async supervise(onListening: () => void): Promise<void> {
    let waitMs = RESTART_MS.first;
    while (!this.draining.signal.aborted) {
      const startedAt = Date.now();
      try {
        await this.runOnce(onListening);
      } catch (error) {
        this.log.warn({ event: 'jobs.runner_failed', err: error });
      }
      if (this.draining.signal.aborted) return;
      if (Date.now() - startedAt > RESTART_MS.longest) waitMs = RESTART_MS.first;
      this.log.warn({ event: 'jobs.runner_restarts', in_ms: waitMs, jobs: this.names });
      await sleep(waitMs, undefined, { signal: this.draining.signal }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, RESTART_MS.longest);
    }
  }

  /** One life of a graphile-worker runner, until it takes no more jobs. */
  private async runOnce(onListening: () => void): Promise<void> {
    const events: WorkerEvents = new EventEmitter();
    const closing = new Promise<void>((resolve) => events.once('pool:gracefulShutdown', () => resolve()));
    let letGo = () => {};
    events.on('pool:create', ({ workerPool }) => {
      this.strays.holds(workerPool.id);
      letGo = holdName(this.pool, workerPool.id);
    });
    events.on('pool:listen:success', () => {
      this.listening.add(events);
      onListening();
    });
    events.on('pool:listen:error', () => this.listening.delete(events));
    events.on('job:start', ({ job }) => this.strays.began(job.id));
    events.on('job:complete', ({ job }) => this.strays.ended(job.id));

    const runner = await run({
      pgPool: this.pool,
      taskList: this.tasks,
      parsedCronItems: [],
      noHandleSignals: true,
      logger: quietLogger,
      events,
      preset: settings(this.concurrency),
    });
    this.runs.add(runner);
    if (this.draining.signal.aborted) runner.stop().catch(() => undefined);
    const ended = runner.promise.finally(() => {
      letGo();
      this.runs.delete(runner);
      this.listening.delete(events);
    });
    ended.catch(() => undefined);
    await Promise.race([closing, ended]);
    this.listening.delete(events);
  }

  private wrap(name: string, handler: JobHandler<object>) {
    return async (payload: unknown, { job }: JobHelpers): Promise<void> => {
      const startedAt = Date.now();
      try {
        await handler(payload as object, {
          jobId: job.id,
          attempt: job.attempts,
          draining: this.draining.signal,
          signal: this.aborting.signal,
        });
      } catch (error) {
        this.log.warn({ event: 'job.failed', job: name, ...attemptOf(job), ms: Date.now() - startedAt, err: error });
        throw error;
      }
    };
  }
}

const attemptOf = (job: Job) => ({ job_id: job.id, attempt: job.attempts, max_attempts: job.max_attempts });
