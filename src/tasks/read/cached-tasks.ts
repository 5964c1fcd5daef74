import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import type { Listed } from '../sql/page-of-tasks.ts';
import { ReadTasks } from '../sql/read-tasks.ts';
import { TaskCache } from '../queue/task-cache.ts';
import { isTaskId } from '../record/task-id.ts';
import { isFinal } from '../record/task-status.ts';
import type { ShownTask } from '../record/task.entity.ts';

/** Reads tasks by id: final ones from memory where they are cached, all others from the database. */
@Injectable()
export class CachedTasks {
  constructor(
    private readonly cache: TaskCache,
    private readonly reads: ReadTasks,
  ) {}

  /** @throws ApiError task_not_found, also for a malformed id and for another API key's task */
  async findOfKey(apiKeyId: string, taskId: string): Promise<ShownTask> {
    const task = isTaskId(taskId) ? await this.find(taskId) : null;
    if (task?.api_key_id !== apiKeyId) throw new ApiError('task_not_found', { param: 'task_id' });
    return task;
  }

  /** Finds a task of any API key. @returns null when there is no such task or its record has expired */
  async find(taskId: string): Promise<ShownTask | null> {
    const cached = this.cache.final(taskId);
    if (cached !== undefined) {
      // Answers at the end of the event-loop turn, like the reads that query the database. The responses of one turn
      // are sent together, which costs both sides fewer wake-ups.
      await endOfTurn();
      return cached;
    }
    const read = await this.reads.find(taskId);
    if (read) this.keep(read);
    return read;
  }

  /**
   * The tasks of a page that was read just before. Tasks that have changed since come in their present state.
   * @param belongs whether a changed task still belongs to the page; one that does not is left out
   */
  async findListed(listed: Listed[], belongs: (task: ShownTask) => boolean): Promise<ShownTask[]> {
    const cached = listed.map(({ id, sequence }) => this.cache.ofSequence(id, sequence));
    const missing = listed.filter((_, at) => cached[at] === undefined);
    if (missing.length === 0) return cached as ShownTask[];
    const read = await this.reads.findMany(missing.map(({ id }) => id));
    for (const { id } of missing) {
      const found = read.get(id);
      if (found) this.cache.add(found);
    }
    return listed.flatMap(({ id, sequence }, at) => {
      const found = cached[at] ?? read.get(id);
      return found && (found.sequence === sequence || belongs(found)) ? [found] : [];
    });
  }

  /** Caches a final task; ignores others. A task that is cached already is not kept for longer. */
  keep(task: ShownTask): void {
    if (isFinal(task.status) && !this.cache.ofSequence(task.id, task.sequence)) this.cache.add(task);
  }
}

let turn: Promise<void> | undefined;

/**
 * Resolves when the event loop has read everything that arrived in this turn. All callers share one promise, so they go
 * on together: the same code runs for one request after the other, and their responses leave together.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}
