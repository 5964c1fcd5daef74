import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';
import { type NewRunTimes, type PaceCounts, KEPT_RUNS, RecordPace } from '../sql/record-pace.ts';
import type { TaskErrorCode } from '../record/task-error.ts';
import type { ShownTask } from '../record/task.entity.ts';
import { anyRunOf, type RunKind, runKindKey, runKindOf } from '../record/run-kind.ts';

const FLUSH_MS = 2_000;
const FORGET_MS = 600_000;
/**
 * Errors that say nothing about whether the model works. Tasks that end with one of these errors do not count as
 * failed.
 */
const NO_FAILURE: ReadonlySet<TaskErrorCode> = new Set(['task_cancelled', 'content_policy_violation']);

/**
 * Records how fast tasks start and how long they run, for estimates and the health of models. It counts in memory and
 * writes every few seconds, so that a task needs no extra statement. A process that is killed loses what it counted in
 * its last seconds.
 */
@Injectable()
export class Pace implements BeforeApplicationShutdown {
  private readonly logger = new Logger('pace');
  private counts = new Map<string, PaceCounts>();
  private times = new Map<string, NewRunTimes>();
  private timer: NodeJS.Timeout | undefined;
  private nextForgetMs = performance.now() + Math.random() * FORGET_MS;

  constructor(private readonly rows: RecordPace) {}

  /** @param tasks as a claim returned them; only the first start of a task counts */
  started(tasks: readonly Pick<ShownTask, 'attempt' | 'model'>[]): void {
    for (const { attempt, model } of tasks) if (attempt === 1) this.countsOf(model).started += 1;
  }

  ended(task: ShownTask): void {
    const { status, error, created_at: createdAt, started_at: startedAt, completed_at: completedAt } = task;
    if (status === 'failed') {
      if (error && !NO_FAILURE.has(error.code)) this.countsOf(task.model).failed += 1;
      return;
    }
    this.countsOf(task.model).succeeded += 1;
    if (!startedAt || !completedAt) return;
    const runMs = Math.max(completedAt.getTime() - startedAt.getTime(), 0);
    const waitMs = Math.max(startedAt.getTime() - createdAt.getTime(), 0);
    for (const kind of [runKindOf(task), anyRunOf(task.model)]) {
      const { run_ms, wait_ms } = this.timesOf(kind);
      if (run_ms.length >= KEPT_RUNS) continue;
      run_ms.push(runMs);
      wait_ms.push(waitMs);
    }
  }

  /** Writes the counts and run times. Never throws: if the write fails, estimates lack them. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const [counts, times] = [[...this.counts.values()], [...this.times.values()]];
    this.counts = new Map();
    this.times = new Map();
    if (counts.length === 0) return;
    try {
      await this.rows.record(counts, times);
      if (performance.now() < this.nextForgetMs) return;
      this.nextForgetMs = performance.now() + FORGET_MS;
      await this.rows.forget();
    } catch (err) {
      this.logger.debug({ event: 'pace.not_recorded', err });
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private countsOf(model: string): PaceCounts {
    this.timer ??= outsideOfRequests(() => setTimeout(() => void this.flush(), FLUSH_MS).unref());
    let counts = this.counts.get(model);
    if (!counts) this.counts.set(model, (counts = { model, started: 0, succeeded: 0, failed: 0 }));
    return counts;
  }

  private timesOf(kind: RunKind): NewRunTimes {
    const key = runKindKey(kind);
    let times = this.times.get(key);
    if (!times) this.times.set(key, (times = { ...kind, run_ms: [], wait_ms: [] }));
    return times;
  }
}
