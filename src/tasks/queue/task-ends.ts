import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { EndTasks, type Ending } from '../sql/end-tasks.ts';
import { WakeParked } from '../sql/wake-parked.ts';
import type { Task } from '../task.entity.ts';
import { TaskFeed } from '../live/task-feed.ts';

/** A look costs as much as ending several tasks. */
const WAKE_GATHER_MS = 20;

/** Ends tasks, then tells: the watchers, and the tasks of the same key that waited for a place. */
@Injectable()
export class TaskEnds {
  private toWake = new Set<string>();
  private waking = false;

  constructor(
    private readonly ends: EndTasks,
    private readonly parked: WakeParked,
    private readonly feed: TaskFeed,
  ) {}

  /** null when the task had ended already, or another claim holds it. */
  async end(ending: Ending): Promise<Task | null> {
    const task = await this.ends.end(ending);
    if (!task) return null;
    this.feed.publish([task]);
    this.wakeNext(task.api_key_id);
    return task;
  }

  /** The first end wakes at once, the ends that follow are gathered. What this misses the sweep finds. */
  private wakeNext(apiKeyId: string): void {
    this.toWake.add(apiKeyId);
    if (!this.waking) void this.wakeAll();
  }

  private async wakeAll(): Promise<void> {
    this.waking = true;
    while (this.toWake.size > 0) {
      const keys = [...this.toWake];
      this.toWake = new Set();
      await this.parked.wake(keys).catch(() => undefined);
      await sleep(WAKE_GATHER_MS, undefined, { ref: false });
    }
    this.waking = false;
  }
}
