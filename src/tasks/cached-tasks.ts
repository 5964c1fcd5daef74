import { Injectable } from '@nestjs/common';
import { endOfTurn } from '../platform/end-of-turn.ts';
import type { Listed } from './sql/page-of-tasks.ts';
import { ReadTasks } from './sql/read-tasks.ts';
import { TaskCache } from './task-cache.ts';
import { isFinal } from './task-status.ts';
import type { ShownTask } from './task.entity.ts';

/** No row has this version, so lists read the task once more. */
const UNKNOWN = '';

/** Reads tasks of any API key by id: final ones from memory where they are cached, all others from the database. */
@Injectable()
export class CachedTasks {
  constructor(
    private readonly cache: TaskCache,
    private readonly reads: ReadTasks,
  ) {}

  /** @returns null when there is no such task or its record has expired */
  async find(taskId: string): Promise<ShownTask | null> {
    const cached = this.cache.final(taskId);
    if (cached !== undefined) {
      // Answer at the end of the event-loop turn, like the reads that query the database: the responses of one turn are
      // sent together, which costs both sides fewer wake-ups.
      await endOfTurn();
      return cached;
    }
    const read = await this.reads.findVersion(taskId);
    if (read && isFinal(read.task.status)) this.cache.add(read);
    return read && read.task;
  }

  /** Of a page that was read just before. Tasks that have changed since are as they are now, or left out when they are no more. */
  async findListed(listed: Listed[]): Promise<{ tasks: ShownTask[]; haveChanged: boolean }> {
    const tasks = listed.map(({ id, version }) => this.cache.ofVersion(id, version));
    const missing = listed.filter((_, at) => tasks[at] === undefined);
    if (missing.length === 0) return { tasks: tasks as ShownTask[], haveChanged: false };
    const read = await this.reads.findVersions(missing.map(({ id }) => id));
    for (const { id } of missing) {
      const found = read.get(id);
      if (found) this.cache.add(found);
    }
    return {
      tasks: listed.map(({ id }, at) => tasks[at] ?? read.get(id)?.task).filter((task) => task !== undefined),
      haveChanged: missing.some(({ id, version }) => read.get(id)?.version !== version),
    };
  }

  /** Caches a final state that the feed has brought; ignores others. One that is cached already is not kept for longer. */
  keep(task: ShownTask): void {
    if (isFinal(task.status) && this.cache.final(task.id) === undefined) this.cache.add({ task, version: UNKNOWN });
  }
}
