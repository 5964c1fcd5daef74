import { Injectable } from '@nestjs/common';
import { EndTasks, type Ending } from './acts/end-tasks.ts';
import { WakeParked } from './acts/wake-parked.ts';
import type { Task } from './task.entity.ts';
import { TaskFeed } from './task-feed.ts';

/** Ends tasks, then tells: the watchers, and the tasks of the same key that waited for a place. */
@Injectable()
export class TaskEnds {
  private toWake = new Set<string>();

  constructor(
    private readonly ends: EndTasks,
    private readonly parked: WakeParked,
    private readonly feed: TaskFeed,
  ) {}

  /** null when the task had ended already, or another claim holds it. */
  async end(ending: Ending): Promise<Task | null> {
    const task = await this.ends.end(ending);
    if (!task) return null;
    this.feed.announce([task]);
    this.wakeNext(task.api_key_id);
    return task;
  }

  /** One look for all the ends of this turn; what it misses the sweep finds. */
  private wakeNext(apiKeyId: string): void {
    if (this.toWake.size === 0) {
      setImmediate(() => {
        const keys = [...this.toWake];
        this.toWake = new Set();
        this.parked.wake(keys).catch(() => undefined);
      });
    }
    this.toWake.add(apiKeyId);
  }
}
