import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config.ts';
import { addJobs, type JobSpec, type JobTransaction } from './add-jobs.ts';
import { type JobHandler, JobRunner } from './job-runner.ts';

/**
 * `generation` jobs are long and run under WORKER_CONCURRENCY; `default` ones (deliveries, sweeps) are short and must not
 * wait behind them.
 */
export type JobQueue = 'generation' | 'default';

export interface JobDefinition<Payload extends object> {
  readonly name: string;
  readonly queue: JobQueue;
  /** Runs, the first one included; between them the wait grows from seconds to hours. */
  readonly maxAttempts: number;
  /** At most one job of a key waits: adding another replaces it, unless it has started already. */
  readonly jobKey?: (payload: Payload) => string;
}

export interface AddOptions {
  /** Not before; at once when absent. */
  runAt?: Date;
  /** Smaller first, 0 to 32,767 (more is cut to that); 0 when absent. */
  priority?: number;
  /** Instead of what the definition's `jobKey` gives. */
  key?: string;
}

const defined = new Map<string, JobDefinition<object>>();

/**
 * Names a kind of job and types its payload. Stands in the module that queues it, at the top level of a file; the module
 * that does it calls `jobs.handle`. Payloads are small (ids); handlers re-read the record and may run twice.
 */
export function defineJob<Payload extends object>(
  name: string,
  options: { queue?: JobQueue; maxAttempts?: number; jobKey?: (payload: Payload) => string } = {},
): JobDefinition<Payload> {
  if (defined.has(name)) throw new Error(`The job "${name}" is defined twice.`);
  const definition: JobDefinition<Payload> = { queue: 'default', maxAttempts: 25, ...options, name };
  defined.set(name, definition as unknown as JobDefinition<object>);
  return definition;
}

/** Work to be done after the commit that asked for it, by any process with a worker. */
@Injectable()
export class Jobs implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(Jobs.name);
  private readonly handlers = new Map<string, JobHandler<object>>();
  private runners: JobRunner[] = [];
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
  ) {}

  /** @param tx the caller's transaction, whose commit the job obeys; null for one of its own */
  async add<Payload extends object>(
    tx: JobTransaction | null,
    job: JobDefinition<Payload>,
    payload: Payload,
    options: AddOptions = {},
  ): Promise<void> {
    await this.addMany(tx, job, [{ payload, ...options }]);
  }

  /** Many of a kind in one statement; of those with the same key the last one stands. */
  async addMany<Payload extends object>(
    tx: JobTransaction | null,
    job: JobDefinition<Payload>,
    items: ({ payload: Payload } & AddOptions)[],
  ): Promise<void> {
    const specs = items.map(({ payload, runAt, priority, key }): JobSpec => ({
      identifier: job.name,
      payload,
      run_at: runAt ?? null,
      max_attempts: job.maxAttempts,
      job_key: key ?? job.jobKey?.(payload) ?? null,
      priority: priority ?? 0,
    }));
    await addJobs(tx ?? this.dataSource, specs);
  }

  /** Says who does a job. Call it before the application has started (onModuleInit). */
  handle<Payload extends object>(job: JobDefinition<Payload>, handler: JobHandler<Payload>): void {
    if (this.runners.length > 0) throw new Error(`The handler of "${job.name}" comes after the start.`);
    if (this.handlers.has(job.name)) throw new Error(`The job "${job.name}" has two handlers.`);
    this.handlers.set(job.name, handler as unknown as JobHandler<object>);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.role !== 'api') await this.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /**
   * Begins to work; resolves when this process hears of new jobs.
   * @throws Error when a defined job has no handler, so that no job can wait for ever unseen
   */
  async start(): Promise<void> {
    if (this.runners.length > 0) return;
    const orphans = [...defined.keys()].filter((name) => !this.handlers.has(name));
    if (orphans.length > 0) throw new Error(`No handler for the job ${orphans.map((name) => `"${name}"`).join(', ')}.`);

    const { url } = this.dataSource.options as { url?: string };
    if (!url) throw new Error('The jobs need a data source made from a connection string.');
    this.runners = [
      new JobRunner(url, this.handlersOf('generation'), this.config.workerConcurrency),
      new JobRunner(url, this.handlersOf('default'), DEFAULT_CONCURRENCY),
    ].filter((runner) => runner.names.length > 0);
    await Promise.all(this.runners.map((runner) => runner.start()));
    this.log.log({ event: 'jobs.started', jobs: [...this.handlers.keys()] });
  }

  /** Takes no more jobs, gives the running ones the grace period, then aborts them. Ends within grace + 11 s. */
  stop(graceMs: number = this.config.shutdownGraceS * 1000): Promise<void> {
    this.stopped ??= Promise.all(this.runners.map((runner) => runner.stop(graceMs))).then(() => undefined);
    return this.stopped;
  }

  /** For the readiness check: whether every runner hears of new jobs. True in a process that has none. */
  isHearing(): boolean {
    return this.runners.every((runner) => runner.isHearing());
  }

  private handlersOf(queue: JobQueue): Map<string, JobHandler<object>> {
    return new Map([...this.handlers].filter(([name]) => (defined.get(name)?.queue ?? 'default') === queue));
  }
}

/** Jobs of the default queue at once in this process; they mostly wait for somebody else's server. */
const DEFAULT_CONCURRENCY = 20;
