import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimedTask } from '../../tasks/sql/claim-tasks.ts';
import type { RecordProgress } from '../../tasks/sql/record-progress.ts';
import type { RecordSubmit, Submission } from '../../tasks/sql/record-submit.ts';
import type { TaskFeed } from '../../tasks/live/task-feed.ts';
import type { Run } from '../../providers/provider.ts';
import type { Lease } from './running-tasks.ts';
import { makeScratch } from './scratch.ts';
import { retryWhileDatabaseDown } from './retry-while-database-down.ts';

/** At most four progress writes a second and task. */
const PROGRESS_MS = 250;
/** Between the looks for a free place at a provider that serves as many as it may. */
const FULL_MS = 300;

/** One claim's run, speaking to the record in the name of that claim. */
export class ProviderRun implements Run {
  private newest: number;
  private written: number;
  private timer: NodeJS.Timeout | null = null;
  private directory: string | null = null;

  constructor(
    private readonly task: ClaimedTask,
    private readonly held: Lease,
    private readonly submission: Submission,
    private readonly acts: { progress: RecordProgress; submit: RecordSubmit; feed: TaskFeed },
  ) {
    this.newest = task.progress;
    this.written = task.progress;
  }

  get signal(): AbortSignal {
    return this.held.signal;
  }

  get upstreamId(): string | null {
    return this.task.upstream_id;
  }

  get submittedBefore(): boolean {
    return this.task.submitted_at !== null;
  }

  /** Made when first asked for: most pictures never need it. */
  get scratchDir(): string {
    this.directory ??= makeScratch();
    return this.directory;
  }

  /** 100 is for the end alone, once the files are stored. */
  progress(percent: number): void {
    if (percent > this.newest) this.newest = Math.min(99, Math.floor(percent)); // never NaN, which would stay
    if (this.newest > this.written) this.timer ??= setTimeout(() => void this.writeProgress(), PROGRESS_MS);
  }

  async submitting(): Promise<void> {
    for (;;) {
      const intent = await this.patiently(() => this.acts.submit.intent(this.held, this.submission));
      if (intent === 'lost') throw await this.held.whyRevoked();
      if (intent === 'committed') {
        this.task.provider = this.submission.provider;
        this.task.credential = this.submission.credential;
        this.held.isCalling = true;
        return;
      }
      await sleep(FULL_MS, undefined, { signal: this.signal });
    }
  }

  async submitted(upstreamId: string, requestId: string | null = null): Promise<void> {
    this.task.upstream_id = upstreamId; // whether or not it can still be noted: a cancel has to name it
    const held = await this.patiently(() => this.acts.submit.accepted(this.held, upstreamId, requestId));
    if (!held) throw await this.held.whyRevoked();
    this.held.isCalling = false;
  }

  async close(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    if (this.directory) await rm(this.directory, { recursive: true, force: true });
  }

  private patiently<Result>(write: () => Promise<Result>): Promise<Result> {
    return retryWhileDatabaseDown(() => !this.signal.aborted, write);
  }

  private async writeProgress(): Promise<void> {
    this.written = this.newest;
    const { id, attempt } = this.held;
    try {
      const task = await this.acts.progress.record({ id, attempt, progress: this.written });
      if (task) this.acts.feed.publish([task]);
    } catch {
      // Progress is news, not truth: the next write says more.
    }
    this.timer = null;
    this.progress(this.newest);
  }
}
