import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { CallerBound } from '../../auth/access/caller.ts';
import type { Actor } from '../../auth/audit/actor.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { ApiError } from '../../errors/api-error.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import { TaskCache } from '../queue/task-cache.ts';
import {
  giveUpOutputs,
  isThere,
  keepOutputs,
  keptBytes,
  MAX_COLLECTION_CHARACTERS,
  type Stars,
} from '../record/stars.ts';
import { isFinal, type ShownTask } from '../record/task.entity.ts';
import {
  countOthers,
  type FinalTask,
  lockFinal,
  lockStars,
  type OtherStars,
  setStars,
  timeNow,
} from '../sql/kept-tasks.ts';
import { recordStars, starsOf } from './record-stars.ts';
import { TasksService } from './tasks.service.ts';

/**
 * The most kept tasks of an API key. If the key has a limit of kept bytes, the tasks of all keys below it count too.
 */
export const MAX_KEPT = 10_000;

/** What gets or loses a star: a task with all its outputs, or one output. */
export interface Kept {
  taskId: string;
  /** The index of the output; null for the whole task. */
  output: number | null;
}

/**
 * Sets and removes the stars of tasks and outputs. A task or output with a star does not expire. See
 * docs/decisions/0096-a-star-puts-expiry-off.md.
 */
@Injectable()
export class KeepTasks {
  constructor(
    private readonly audit: AuditLog,
    private readonly tasks: TasksService,
    private readonly cache: TaskCache,
  ) {}

  /**
   * Sets a star, or moves a task or output with a star to another collection. May be repeated.
   * @throws ApiError task_not_found, task_unfinished, file_expired, kept_quota_exceeded, string_too_long, invalid_value
   */
  async keep(actor: Actor, kept: Kept, collection: string | null): Promise<ShownTask> {
    const name = checkedCollection(collection);
    const { apiKeyId, limits } = actor.caller!;
    const above = countingAbove(actor);
    return this.change(actor, kept, [apiKeyId, ...above.map((bound) => bound.apiKeyId)], async (tx, task, nowS) => {
      const filesEnd = task.files_expire_at && task.files_expire_at.getTime() / 1000;
      const output = kept.output === null ? undefined : task.result?.[kept.output];
      if (output && !isThere(output, filesEnd, nowS)) throw new ApiError('file_expired');
      const stars = keepOutputs(starsOf(task), kept.output ?? 'all', name, { filesEnd, nowS });
      assertRoom(limits.maxKeptBytes, task, stars, await countOthers(tx, apiKeyId, task));
      for (const bound of above) await assertRoomAbove(tx, bound, task, stars);
      return stars;
    });
  }

  /**
   * Removes a star. Files that only the star kept stay for at least another day. May be repeated.
   * @throws ApiError task_not_found, task_unfinished
   */
  giveUp(actor: Actor, kept: Kept): Promise<ShownTask> {
    return this.change(actor, kept, [], (_tx, task, nowS) => {
      const before = task.unkept_files_expire_at?.getTime() ?? 0;
      return giveUpOutputs(starsOf(task), kept.output ?? 'all', Math.max(before / 1000, nowS + DAY_S));
    });
  }

  /**
   * @param counting the keys whose limits count what this change keeps; changes with a key in common run one after the
   *   other
   */
  private async change(
    actor: Actor,
    { taskId }: Kept,
    counting: string[],
    starsOfChange: (tx: EntityManager, task: FinalTask, nowS: number) => Stars | Promise<Stars>,
  ): Promise<ShownTask> {
    const { apiKeyId } = actor.caller!;
    const { status } = await this.tasks.find(apiKeyId, taskId);
    if (!isFinal(status)) throw new ApiError('task_unfinished', { message: 'Only a final task can be kept.' });
    const changed = await this.audit.transaction(actor, async (tx, record) => {
      await lockStars(tx, counting);
      const task = await lockFinal(tx, apiKeyId, taskId);
      const nowS = await timeNow(tx);
      if (!task || task.expires_at.getTime() / 1000 <= nowS) throw new ApiError('task_not_found', { param: 'task_id' });
      const stars = await starsOfChange(tx, task, nowS);
      if (isSame(starsOf(task), stars)) return task;
      await recordStars(record, task, stars);
      return (await setStars(tx, task, stars))!;
    });
    this.cache.drop(taskId);
    return changed;
  }
}

const isSame = (one: Stars, other: Stars): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * Refuses another kept task above MAX_KEPT, and more kept bytes above the quota. The quota refuses no change that needs
 * no more bytes, so a collection can be renamed after the quota was lowered.
 * @throws ApiError kept_quota_exceeded
 */
function assertRoom(maxKeptBytes: number, task: ShownTask, { result }: Stars, others: OtherStars): void {
  if (task.kept_at === null && others.tasks >= MAX_KEPT) {
    const message = `This API key, or it and those that it has made, keep ${MAX_KEPT} tasks, as many as allowed; give some up.`;
    throw new ApiError('kept_quota_exceeded', { message });
  }
  const [before, after] = [keptBytes(task.result), keptBytes(result)];
  if (maxKeptBytes > 0 && after > before && others.bytes + after > maxKeptBytes) {
    const used = others.bytes + before;
    const message = `The kept files of this API key may take ${maxKeptBytes} bytes, of which ${used} are used; give some up.`;
    throw new ApiError('kept_quota_exceeded', { message });
  }
}

/** The keys above (the maker of this key, its maker and so on) that have a limit of kept bytes. */
const countingAbove = ({ caller }: Actor): CallerBound[] =>
  (caller!.bounds ?? []).filter(({ limits }) => (limits.maxKeptBytes ?? 0) > 0);

async function assertRoomAbove(
  tx: EntityManager,
  { apiKeyId, limits: { maxKeptBytes = 0 } }: CallerBound,
  task: ShownTask,
  { result }: Stars,
): Promise<void> {
  const [before, after] = [keptBytes(task.result), keptBytes(result)];
  if (task.kept_at !== null && after <= before) return;
  const others = await countOthers(tx, apiKeyId, task);
  const isFull = task.kept_at === null && others.tasks >= MAX_KEPT;
  if (!isFull && (after <= before || others.bytes + after <= maxKeptBytes)) return;
  const what = isFull ? 'another task' : `${after - before} more bytes`;
  // A key must not see the limit of a key above it.
  const message = `A key above this API key has no room to keep ${what}.`;
  throw new ApiError('kept_quota_exceeded', { message });
}

/** @throws ApiError string_too_long, invalid_value */
function checkedCollection(name: string | null): string | null {
  if (name === null) return null;
  if (name.trim() === '' || /\p{Cc}/u.test(name)) {
    const message = 'collection must be a name, without control characters.';
    throw new ApiError('invalid_value', { param: 'collection', message });
  }
  if (Array.from(name).length <= MAX_COLLECTION_CHARACTERS) return name;
  const message = `collection must have at most ${MAX_COLLECTION_CHARACTERS} characters.`;
  throw new ApiError('string_too_long', { param: 'collection', message });
}
