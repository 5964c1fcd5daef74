import { Injectable } from '@nestjs/common';
import type { CallerBound } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { CreateTaskBatch } from './create-task-batch.ts';
import type { FirstResponse, Idempotency } from './first-responses.ts';
import type { NewTask } from './new-task.ts';

/**
 * The longest that a creation waits for its turn. Without a limit, the waits behind a locked row would add up to
 * minutes.
 */
const LONGEST_WAIT_MS = 10_000;

/**
 * Stores tasks that also count for keys above their own (its maker and so on). Each task is stored in a transaction of
 * its own, as a batch of one: whether it has room depends on the rows of several keys, so one statement cannot decide
 * about many tasks. Tasks that count for the same key above take turns in this process. Otherwise each would hold a
 * connection while it waits for the row of that key.
 */
@Injectable()
export class CreateSharedTasks {
  /** The last creation that has begun, by the id of the topmost key above. */
  private readonly last = new Map<string, Promise<unknown>>();

  constructor(private readonly creates: CreateTaskBatch) {}

  /**
   * @returns the first answer, if the Idempotency-Key was used before; then nothing is stored
   * @throws ApiError as `CreateTaskBatch`
   */
  async create(task: NewTask, above: CallerBound[], idempotency: Idempotency | null): Promise<FirstResponse | null> {
    const highest = above.map(({ apiKeyId }) => apiKeyId).reduce((one, other) => (other < one ? other : one));
    const waitsFrom = performance.now();
    const before = this.last.get(highest);
    const stored = (async () => {
      await before?.catch(() => undefined);
      if (performance.now() - waitsFrom > LONGEST_WAIT_MS) {
        throw new ApiError('service_unavailable', { retryAfterS: 1 });
      }
      return this.store(task, above, idempotency);
    })();
    this.last.set(highest, stored);
    try {
      return await stored;
    } finally {
      if (this.last.get(highest) === stored) this.last.delete(highest);
    }
  }

  private store(task: NewTask, above: CallerBound[], idempotency: Idempotency | null): Promise<FirstResponse | null> {
    const { id, api_key_id, limits } = task;
    const single = { ...task, batch_id: null, batch_index: null, custom_id: null, task_events: true };
    return this.creates.create({ id, api_key_id, limits, above, idempotency, tasks: [single] });
  }
}
