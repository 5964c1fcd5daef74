import { rm } from 'node:fs/promises';
import type { Run } from '../../providers/provider.ts';
import type { ClaimedTask } from '../../tasks/queue/lease.ts';
import type { Submission } from '../../tasks/queue/submission.ts';
import type { TaskQueue } from '../../tasks/queue/task-queue.ts';
import { retryWhileDatabaseDown } from './retry-while-database-down.ts';
import type { Lease } from './running-tasks.ts';
import { waitForPlace } from './must-wait.ts';
import { makeScratch } from './scratch.ts';

/** Throttles progress writes to four a second and task. */
const PROGRESS_MS = 250;

/** One claim's run of a task at one provider. Its writes name the claim, so a late run changes nothing. */
export class ProviderRun implements Run {
  private newest: number;
  private written: number;
  private timer: NodeJS.Timeout | null = null;
  private directory: string | null = null;

  constructor(
    private readonly task: ClaimedTask,
    private readonly lease: Lease,
    private readonly submission: Submission,
    private readonly queue: TaskQueue,
  ) {
    this.newest = task.progress;
    this.written = task.progress;
  }

  get signal(): AbortSignal {
    return this.lease.signal;
  }

  get upstreamId(): string | null {
    return this.task.upstream_id;
  }

  get submittedBefore(): boolean {
    return this.task.submitted_at !== null;
  }

  /** Created on first use: most images never need it. */
  get scratchDir(): string {
    this.directory ??= makeScratch();
    return this.directory;
  }

  /** Capped at 99: a task is at 100 only when its files are stored. */
  progress(percent: number): void {
    if (percent > this.newest) this.newest = Math.min(99, Math.floor(percent)); // false for NaN, which would never leave
    if (this.newest > this.written) this.timer ??= setTimeout(() => void this.writeProgress(), PROGRESS_MS);
  }

  async submitting(): Promise<void> {
    const intent = await this.write(() => this.queue.submitIntent(this.lease, this.submission));
    if (intent === 'lost') throw await this.lease.whyRevoked();
    if (intent === 'full') throw waitForPlace(this.task);
    this.task.provider = this.submission.provider;
    this.task.credential = this.submission.credential;
    this.lease.isCalling = true;
  }

  async submitted(upstreamId: string, requestId: string | null = null): Promise<void> {
    this.task.upstream_id = upstreamId; // even if the write fails: a cancel needs the job's id
    const held = await this.write(() => this.queue.submitAccepted(this.lease, upstreamId, requestId));
    if (!held) throw await this.lease.whyRevoked();
    this.lease.isCalling = false;
  }

  async close(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    if (this.directory) await rm(this.directory, { recursive: true, force: true });
  }

  private write<Result>(write: () => Promise<Result>): Promise<Result> {
    return retryWhileDatabaseDown(() => !this.signal.aborted, write);
  }

  private async writeProgress(): Promise<void> {
    this.written = this.newest;
    try {
      await this.queue.recordProgress(this.lease, this.written);
    } catch {
      // A lost progress write does no harm: the next one carries a higher number.
    }
    this.timer = null;
    this.progress(this.newest);
  }
}
