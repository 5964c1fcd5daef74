import { Injectable } from '@nestjs/common';
import { WakeSignal } from './wake-signal.ts';
import { PauseTasks, SETTLED_AFTER_S } from '../sql/pause-tasks.ts';

/**
 * Parks the waiting tasks of paused models, and wakes them after the pause. If a claim finds a task of a paused model
 * first, the claim parks the task.
 */
@Injectable()
export class FollowPauses {
  /** The pauses, as text, for which the waiting tasks have been parked. */
  private followed = '';
  /** When tasks were last woken, on the monotonic clock. */
  private wokenMs = -Infinity;

  constructor(
    private readonly tasks: PauseTasks,
    private readonly wakeSignal: WakeSignal,
  ) {}

  /** @param isStopped whether to stop half-way; another process, or the next call, then does the rest */
  async follow(isStopped: () => boolean): Promise<void> {
    const inForce = (await this.tasks.read()).map(({ id, models }) => `${id} ${models.join()}`).join('\n');
    if (inForce !== this.followed) {
      // Parking reads all waiting tasks, so it is done only after a change of the pauses.
      if (inForce !== '') await untilDone(() => this.tasks.setAside(), isStopped);
      this.followed = inForce;
    }
    // A late wake-up also checks pauses that changed long ago: all workers or the database may have been down since.
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
