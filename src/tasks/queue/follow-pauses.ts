import { Injectable } from '@nestjs/common';
import { WakeSignal } from './wake-signal.ts';
import { PauseTasks, SETTLED_AFTER_S } from '../sql/pause-tasks.ts';

/**
 * Sets aside the waiting tasks of paused models, and wakes them after the pause. If a claim comes to such a task
 * earlier, the claim sets the task aside.
 */
@Injectable()
export class FollowPauses {
  /** The pauses for which the waiting tasks were set aside. */
  private followed = '';
  /** When tasks were last woken, on the monotonic clock. */
  private wokenMs = -Infinity;

  constructor(
    private readonly tasks: PauseTasks,
    private readonly wakeSignal: WakeSignal,
  ) {}

  /** @param isStopped ends the work half-way; another process, or the next call, does the rest */
  async follow(isStopped: () => boolean): Promise<void> {
    const inForce = (await this.tasks.read()).map(({ id, models }) => `${id} ${models.join()}`).join('\n');
    if (inForce !== this.followed) {
      // Setting tasks aside reads the whole line, so it is done only after a change.
      if (inForce !== '') await untilDone(() => this.tasks.setAside(), isStopped);
      this.followed = inForce;
    }
    // The wake-up may be late, because all workers or the database were down.
    const nowMs = performance.now();
    const isLate = nowMs - this.wokenMs > (SETTLED_AFTER_S * 1000) / 2;
    if ((await untilDone(() => this.tasks.wake(isLate), isStopped)) > 0) this.wakeSignal.notify();
    this.wokenMs = nowMs;
    await this.tasks.release();
  }
}

async function untilDone(
  step: () => Promise<{ moved: number; isDone: boolean }>,
  isStopped: () => boolean,
): Promise<number> {
  for (let moved = 0; ;) {
    const done = await step();
    moved += done.moved;
    if (done.isDone || isStopped()) return moved;
  }
}
