/**
 * What can happen to a task. `queued`, `started`, `cancel_requested` and the final moments are not stored, because they
 * follow from other columns.
 */
export const MOMENT_TYPES = [
  'queued',
  'held',
  'released',
  'started',
  'references_ready',
  'submitting',
  'accepted',
  'refused',
  'worker_lost',
  'taken_over',
  'storing',
  'succeeded',
  'failed',
  'cancel_requested',
] as const;
export type MomentType = (typeof MOMENT_TYPES)[number];

/** Why a started task has to wait: its provider is full or away, or a pause holds the task. */
export type HoldReason = 'provider_limit' | 'pause';

/** A moment as stored in the row of its task. It is an array so that it stays short. */
export type Moment = [atMs: number, type: MomentType, attempt: number, provider: string | null, detail: string | null];

/** The most moments of a timeline. A longer one loses moments from its middle. */
export const MAX_MOMENTS = 200;

export const isHeld = (timeline: readonly Moment[] | null): boolean => timeline?.at(-1)?.[1] === 'held';

/**
 * The most moments that wait to be written; further ones are dropped. A run reaches this number only if it tries very
 * many bindings without a write.
 */
const MAX_PENDING = 8;

/** The fields of a task that `RunMoments` needs. */
interface RunTask {
  attempt: number;
  timeline: Moment[] | null;
  provider: string | null;
  upstream_id: string | null;
}

/** The moment that a write is about. It is added only if the write takes effect. */
type LastMoment = [type: 'submitting' | 'accepted', provider: string | null];

/**
 * The moments of the run of one claim. The statements that the run needs anyway write them, so a moment costs no
 * statement. If the worker is lost, so are its unwritten moments.
 */
export class RunMoments {
  private pending: Moment[] = [];
  /**
   * Whether the task was given back to wait, for its provider or the end of a pause, and has not been submitted since.
   */
  private isWaiting: boolean;
  /** Whether the provider has accepted a job of the last submit. Of several jobs, only the first gets a moment. */
  private isAccepted: boolean;
  private areReferencesReady = false;
  private readonly claimedAtMs: number;

  /** @param nowMs by the database's clock, like the moments that statements add */
  constructor(
    private readonly task: RunTask,
    readonly nowMs: () => number,
  ) {
    this.isWaiting = isHeld(task.timeline);
    this.isAccepted = task.upstream_id !== null;
    this.claimedAtMs = nowMs();
  }

  /** The provider that was called last. */
  get provider(): string | null {
    return this.task.provider;
  }

  note(type: MomentType, provider: string | null = null, detail: string | null = null): void {
    if (this.pending.length < MAX_PENDING) this.pending.push(this.momentOf(type, provider, detail));
  }

  /** Call this before each binding that the run tries; only the first call adds a moment. */
  referencesReady(): void {
    if (!this.areReferencesReady) this.note('references_ready');
    this.areReferencesReady = true;
  }

  /** The moments that are not written yet, for the statement that ends the task. */
  get unwritten(): Moment[] {
    return this.pending.length === 0 ? [] : this.withRelease(this.pending);
  }

  /**
   * Calls `write` with the moments to add: the unwritten ones and `last`. They stay unwritten if the write does not
   * take effect.
   * @param write gets the moments as JSON; null if there are none
   * @param isWritten whether the write took effect
   */
  async write<Result>(
    last: LastMoment | null,
    write: (moments: string | null) => Promise<Result>,
    isWritten: (result: Result) => boolean,
  ): Promise<Result> {
    if (last === null && this.isWaiting) return write(null); // the task may go on waiting: it is not released yet
    const sent = this.pending.length;
    const isNew = last !== null && !(last[0] === 'accepted' && this.isAccepted);
    const moments = [...this.pending, ...(isNew ? [this.momentOf(...last, null)] : [])];
    const result = await write(moments.length > 0 ? JSON.stringify(this.withRelease(moments)) : null);
    if (!isWritten(result)) return result;
    this.pending.splice(0, sent);
    if (last !== null) {
      this.isWaiting = false;
      this.isAccepted = last[0] === 'accepted';
    }
    return result;
  }

  /**
   * The moments to add when the task is given back, as JSON. null if the task was waiting before this claim and has not
   * been submitted since: its wait goes on.
   */
  onHold(reason: HoldReason = 'provider_limit'): string | null {
    if (this.isWaiting) return null;
    return JSON.stringify([...this.pending, this.momentOf('held', null, reason)]);
  }

  private withRelease(moments: Moment[]): Moment[] {
    if (!this.isWaiting) return moments;
    return [[this.claimedAtMs, 'released', this.task.attempt, null, null], ...moments];
  }

  private momentOf(type: MomentType, provider: string | null, detail: string | null): Moment {
    return [this.nowMs(), type, this.task.attempt, provider, detail];
  }
}
