import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config.ts';
import { type JobHandler, JobRunner } from './job-runner.ts';

export interface JobDefinition<Payload extends object> {
  readonly name: string;
  /** Only a type: what a job of this kind carries. */
  readonly payload?: Payload;
}

/** Jobs at once in this process; they mostly wait for somebody else's server. */
export const JOBS_AT_ONCE = 20;

const defined = new Map<string, JobDefinition<object>>();

/**
 * Names a kind of job and types its payload. Stands in the module that queues it, at the top level of a file; the module
 * that does it calls `jobs.handle`. Payloads are small (ids); handlers re-read the record and may run twice. The acts queue
 * jobs by graphile_worker.add_jobs, in their own statement.
 */
export function defineJob<Payload extends object>(name: string): JobDefinition<Payload> {
  if (defined.has(name)) throw new Error(`The job "${name}" is defined twice.`);
  const definition: JobDefinition<Payload> = { name };
  defined.set(name, definition as unknown as JobDefinition<object>);
  return definition;
}

/** Work to be done after the commit that asked for it, by any process with a worker. */
@Injectable()
export class Jobs implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(Jobs.name);
  private readonly handlers = new Map<string, JobHandler<object>>();
  private runner: JobRunner | undefined;
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
  ) {}

  /** Says who does a job. Call it before the application has started (onModuleInit). */
  handle<Payload extends object>(job: JobDefinition<Payload>, handler: JobHandler<Payload>): void {
    if (this.runner) throw new Error(`The handler of "${job.name}" comes after the start.`);
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
    if (this.runner) return;
    const orphans = [...defined.keys()].filter((name) => !this.handlers.has(name));
    if (orphans.length > 0) throw new Error(`No handler for the job ${orphans.map((name) => `"${name}"`).join(', ')}.`);

    const { url } = this.dataSource.options as { url?: string };
    if (!url) throw new Error('The jobs need a data source made from a connection string.');
    this.runner = new JobRunner(url, this.handlers, JOBS_AT_ONCE);
    await this.runner.start();
    this.log.log({ event: 'jobs.started', jobs: [...this.handlers.keys()] });
  }

  /** Takes no more jobs, gives the running ones the grace period, then aborts them. Ends within grace + 11 s. */
  stop(graceMs: number = this.config.shutdownGraceS * 1000): Promise<void> {
    this.stopped ??= this.runner?.stop(graceMs) ?? Promise.resolve();
    return this.stopped;
  }

  /** For the readiness check: whether this process hears of new jobs. True in one that does none. */
  isHearing(): boolean {
    return this.runner?.isHearing() ?? true;
  }
}
