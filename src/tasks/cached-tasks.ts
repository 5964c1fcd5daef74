import { Injectable } from '@nestjs/common';
import { endOfTurn } from '../platform/end-of-turn.ts';
import { FinalTasks } from './final-tasks.ts';
import { ReadTasks } from './sql/read-tasks.ts';
import type { ShownTask } from './task.entity.ts';

/** Reads tasks of any API key by id: final ones from memory where they are cached, all others from the database. */
@Injectable()
export class CachedTasks {
  constructor(
    private readonly finals: FinalTasks,
    private readonly reads: ReadTasks,
  ) {}

  /** @returns null when there is no such task or its record has expired */
  async find(taskId: string): Promise<ShownTask | null> {
    const cached = this.finals.get(taskId);
    if (cached !== undefined) {
      // Answer at the end of the event-loop turn, like the reads that query the database: the responses of one turn are
      // sent together, which costs both sides fewer wake-ups.
      await endOfTurn();
      return cached;
    }
    const task = await this.reads.find(taskId);
    if (task) this.finals.add(task);
    return task;
  }

  /** Caches a final state that the feed has brought. One that is cached already is not kept for longer. */
  keep(task: ShownTask): void {
    if (this.finals.get(task.id) === undefined) this.finals.add(task);
  }
}
