import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { TaskCache } from './task-cache.ts';
import { TaskFeed, type Watcher } from './task-feed.ts';
import { Pace } from './pace.ts';
import { ClaimTasks } from '../sql/claim-tasks.ts';
import { ConfirmCancel } from '../sql/confirm-cancel.ts';
import { EndTasks } from '../sql/end-tasks.ts';
import { HoldTask } from '../sql/hold-task.ts';
import { ReadTasks } from '../sql/read-tasks.ts';
import { RecordProgress } from '../sql/record-progress.ts';
import { RecordSubmit } from '../sql/record-submit.ts';
import { SetModelVersion } from '../sql/set-model-version.ts';
import { RenewLeases } from '../sql/renew-leases.ts';
import { TakeLeases } from '../sql/take-leases.ts';
import { WakeParked } from '../sql/wake-parked.ts';
import type { Approximation, ShownTask } from '../record/task.entity.ts';
import { taskEnded, tasksClaimed } from './task-metrics.ts';
import type { HoldReason } from '../record/moment.ts';
import type { EndHook, Ending } from '../record/ending.ts';
import type { Claim, LeaseRef, NotedLease } from '../record/lease.ts';
import type { LostSubmit, Place, Submission, SubmitIntent } from '../record/submission.ts';
import { DatabaseClock } from './database-clock.ts';
import { TakeoverPause } from './takeover-pause.ts';
import { WakeSignal } from './wake-signal.ts';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';

/**
 * Ends within this time share one statement that wakes parked tasks. The statement costs as much as ending several
 * tasks.
 */
const WAKE_DEBOUNCE_MS = 20;

/**
 * The tasks as workers use them: claim, renew, submit, report progress, end, release. Every change that clients can see
 * is published to the feed after its commit, so callers publish nothing.
 */
@Injectable()
export class TaskQueue {
  private readonly held = new Set<string>();
  private keysToWake = new Set<string>();
  /** API keys that share a limit of running tasks with the keys below them. */
  private sharingToWake = new Set<string>();
  private isWaking = false;
  private readonly endListeners: ((task: ShownTask) => void)[] = [];

  constructor(
    private readonly claims: ClaimTasks,
    private readonly leases: RenewLeases,
    private readonly submits: RecordSubmit,
    private readonly progress: RecordProgress,
    private readonly ends: EndTasks,
    private readonly reads: ReadTasks,
    private readonly parked: WakeParked,
    private readonly holds: HoldTask,
    private readonly feed: TaskFeed,
    private readonly wakeSignal: WakeSignal,
    private readonly takeoverPause: TakeoverPause,
    private readonly confirms: ConfirmCancel,
    private readonly cache: TaskCache,
    private readonly pace: Pace,
    private readonly taken: TakeLeases,
    private readonly versions: SetModelVersion,
    private readonly clock: DatabaseClock,
  ) {}

  /** @param onWork called when tasks may be waiting; calls can be lost, so also poll */
  subscribe(onWork: () => void): void {
    this.wakeSignal.subscribe(onWork);
  }

  /**
   * Claims waiting tasks for this process.
   * @param limit most tasks to claim
   * @param includeExpired also claim tasks whose lease has expired, unless live workers may be late with their renewals
   * @param exceptKeys leaves out the tasks of these keys, and claims at most one expired and one waiting task of each
   *   other key; null: claims any task
   */
  async claim(limit: number, includeExpired: boolean, exceptKeys: string[] | null = null): Promise<Claim> {
    const expiredByMs = includeExpired && this.mayTakeOver() ? this.clock.nowMs() : null;
    const claim = await this.claims.claim(limit, expiredByMs, [...this.held], exceptKeys);
    this.feed.publish(claim.tasks);
    this.pace.started(claim.tasks);
    tasksClaimed(claim.tasks);
    return claim;
  }

  /** Keeps this process from claiming a task that it still runs. @returns a function to call when the run is over */
  hold(taskId: string): () => void {
    this.held.add(taskId);
    return () => void this.held.delete(taskId);
  }

  /** @param listener renews the leases of this process, which may be about to expire after the machine was frozen */
  onStandstill(listener: () => void): void {
    this.takeoverPause.onStandstill(listener);
  }

  /** @returns the ids whose lease still holds; a missing task was cancelled, ended or taken over */
  renew(leases: LeaseRef[]): Promise<Set<string>> {
    return this.leases.renew(leases);
  }

  /**
   * Gives a task back without counting a lost worker, because this process is shutting down or the task has to wait.
   * Clients see no change: the task stays `running`.
   * @param afterS seconds until a worker may claim it; null: when the lease expires
   * @param reason why the task waits, for its timeline
   * @returns whether the lease still held
   */
  async release(lease: NotedLease, afterS: number | null, reason?: HoldReason): Promise<boolean> {
    const mustWait = afterS !== null && afterS > 0;
    const moments = mustWait ? lease.moments.onHold(reason) : null;
    const released = await this.leases.release([lease], afterS, moments);
    if (released.length === 0) return false;
    if (afterS === 0) this.wakeSignal.notify();
    if (mustWait) await this.leavePlace(lease);
    return true;
  }

  /**
   * Stops counting this task as running while it waits, so that another task of its key can run. If that fails, the
   * task still counts.
   */
  private async leavePlace(lease: LeaseRef): Promise<void> {
    const freed = await this.holds.hold(lease).catch(() => null);
    if (freed) this.wakeNextOf(freed.api_key_id, freed.shared_by);
  }

  /** Takes running tasks away from their workers; the next claim continues them. @returns how many were taken */
  async takeAway(taskIds: readonly string[]): Promise<number> {
    const tasks = await this.taken.take([...taskIds]);
    this.feed.publish(tasks); // the workers stop at once
    if (tasks.length > 0) this.wakeSignal.notify();
    return tasks.length;
  }

  /** Records which provider will run the task, before the paid call. */
  submitIntent(lease: NotedLease, submission: Submission): Promise<SubmitIntent> {
    const write = (moments: string | null) => this.submits.intent(lease, submission, moments);
    return lease.moments.write(['submitting', submission.provider], write, (intent) => intent === 'committed');
  }

  /**
   * Whether the provider is at its concurrency limit. Only the intent to submit decides. This check saves the work that
   * comes before the intent.
   */
  isFull(lease: LeaseRef, place: Place): Promise<boolean> {
    return this.submits.isFull(lease, place);
  }

  /** How many tasks of a model are at each of these addresses of a provider, in all processes. */
  tasksAt(model: string, provider: string, urls: string[]): Promise<Map<string, number>> {
    return this.submits.tasksAt(model, provider, urls);
  }

  /**
   * Records the upstream's job id, before the first poll.
   * @param place where the call was made; missing if the lease must hold
   * @returns whether the lease still holds
   */
  submitAccepted(
    lease: NotedLease,
    upstreamId: string,
    requestId: string | null = null,
    place: Place | null = null,
  ): Promise<boolean> {
    const write = (moments: string | null) => this.submits.accepted(lease, upstreamId, requestId, moments, place);
    return lease.moments.write(['accepted', lease.moments.provider], write, Boolean);
  }

  /** Counts a paid call that the intent has not announced. @returns whether the lease still holds */
  calledAgain(lease: LeaseRef): Promise<boolean> {
    return this.submits.calledAgain(lease);
  }

  /**
   * Records approximations that the intent did not know of, or those of a provider without paid calls.
   * @returns whether the lease still holds
   */
  approximated(lease: LeaseRef, approximations: Approximation[]): Promise<boolean> {
    return this.submits.approximated(lease, approximations);
  }

  /**
   * Takes the intent back, so that another provider may be tried.
   * @param mayBeCharged false: the upstream certainly accepted nothing; true: its answer was lost, and the call is
   *   repeated
   * @returns whether the lease still holds
   */
  submitWithdrawn(lease: NotedLease, mayBeCharged: boolean): Promise<boolean> {
    return lease.moments.write(null, (moments) => this.submits.withdrawn(lease, mayBeCharged, moments), Boolean);
  }

  /** Counts a lost attempt for a job that the provider has lost or never accepted, and that cost nothing. */
  submitLost(lease: LeaseRef): Promise<LostSubmit> {
    return this.submits.lost(lease);
  }

  /** @param percent 0 to 99; ignored when the lease is lost or the recorded progress is as high already */
  async recordProgress({ id, attempt }: LeaseRef, percent: number): Promise<void> {
    const task = await this.progress.record({ id, attempt, progress: percent });
    if (task) this.feed.publish([task]);
  }

  /**
   * Ends the task. If a key that counted the task has a limit of running tasks, this wakes the parked tasks that may
   * run now.
   * @returns null when nothing changed, as in `EndTasks`
   */
  async end(ending: Ending): Promise<ShownTask | null> {
    const ended = await this.ends.end(ending);
    if (!ended) return null;
    const { task, isKeyLimited, sharedBy } = ended;
    this.feed.publish([task]);
    this.pace.ended(task);
    taskEnded(task);
    if (isKeyLimited || sharedBy.length > 0) this.wakeNextOf(task.api_key_id, sharedBy);
    for (const listener of this.endListeners) listener(task);
    return task;
  }

  /** Call when a task starts under another version of its model than the version that accepted the task. */
  async runsUnder(lease: LeaseRef, version: string): Promise<void> {
    if (await this.versions.set(lease, version)) this.cache.drop(lease.id);
  }

  /**
   * Call this when the provider has confirmed that the job of an ended task was cancelled before the job ran. The task
   * then costs nothing, if the cost can still be corrected.
   */
  async cancelConfirmed(taskId: string): Promise<void> {
    if (await this.confirms.confirm(taskId)) this.cache.drop(taskId);
  }

  /** Registers a hook that writes in the transaction that ends tasks. */
  registerEndHook(hook: EndHook): void {
    this.ends.registerHook(hook);
  }

  /**
   * @param listener called after the commit of every end in this process, unless the process is killed between commit
   *   and call
   */
  onEnd(listener: (task: ShownTask) => void): void {
    this.endListeners.push(listener);
  }

  /** Reads a task, even if it was deleted a moment ago. */
  read(taskId: string): Promise<ShownTask | null> {
    return this.reads.findStored(taskId);
  }

  /** Calls `watcher` with every change of the task. @returns a function that stops watching */
  watch(taskId: string, watcher: Watcher): () => void {
    return this.feed.watch(taskId, watcher);
  }

  /** Whether an expired lease means a dead worker: false while live workers may be late with their renewals. */
  mayTakeOver(): boolean {
    return this.takeoverPause.isOver();
  }

  /** Wakes the parked tasks of these API keys, as many as the keys may run now. */
  async wakeThrottled(apiKeyIds: string[]): Promise<void> {
    if ((await this.parked.wake(apiKeyIds)) > 0) this.wakeSignal.notify();
  }

  /** Wakes the parked tasks that wait for a limit which these keys share with the keys below them. */
  private async wakeThrottledBy(apiKeyIds: string[]): Promise<void> {
    if ((await this.parked.wakeShared(apiKeyIds)) > 0) this.wakeSignal.notify();
  }

  /**
   * Wakes parked tasks of the keys that counted a task which has ended or begun to wait. The first call does this at
   * once, and the calls of the next WAKE_DEBOUNCE_MS share statements. If a statement fails, the sweep finds the tasks
   * that stay parked.
   */
  private wakeNextOf(apiKeyId: string, sharedBy: string[]): void {
    if (sharedBy.length === 0) this.keysToWake.add(apiKeyId);
    else for (const id of sharedBy) this.sharingToWake.add(id);
    if (!this.isWaking) void outsideOfRequests(() => this.wakeAll());
  }

  private async wakeAll(): Promise<void> {
    this.isWaking = true;
    while (this.keysToWake.size > 0 || this.sharingToWake.size > 0) {
      const [keys, sharing] = [[...this.keysToWake], [...this.sharingToWake]];
      this.keysToWake = new Set();
      this.sharingToWake = new Set();
      if (keys.length > 0) await this.wakeThrottled(keys).catch(() => undefined);
      if (sharing.length > 0) await this.wakeThrottledBy(sharing).catch(() => undefined);
      await sleep(WAKE_DEBOUNCE_MS, undefined, { ref: false });
    }
    this.isWaking = false;
  }
}
