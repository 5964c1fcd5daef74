import { Injectable } from '@nestjs/common';
import { KeyWatch } from '../auth/credentials/key-watch.ts';
import { ApiError } from '../errors/api-error.ts';
import { Config } from '../platform/config/config.ts';
import { waitingOnPurpose } from '../platform/http/observe-requests.ts';
import { FollowTasks } from '../tasks/live/follow.ts';
import { hungUp } from '../tasks/live/waits.ts';
import { isFinal, type ShownTask } from '../tasks/record/task.entity.ts';
import { TasksService } from '../tasks/acts/tasks.service.ts';
import { taskError } from '../tasks/record/task-error.ts';
import type { CallRequest, StartedCall } from './calls.service.ts';
import { outcomeError } from './outcome-error.ts';

/** Waits for the task of a call. The feed reports the end of the task, so the wait does not poll the database. */
@Injectable()
export class CallWaits {
  constructor(
    private readonly config: Config,
    private readonly keys: KeyWatch,
    private readonly tasks: TasksService,
    private readonly live: FollowTasks,
  ) {}

  /**
   * Waits until the task has succeeded. The task goes on even if the client disconnects.
   * @throws ApiError generation_timeout, service_unavailable; the errors of a refused API key and of a failed task
   */
  async untilSucceeded(request: CallRequest, call: StartedCall): Promise<ShownTask> {
    const { caller, reply } = request;
    const { authorization } = reply.request.headers;
    const gone = AbortSignal.any([hungUp(reply), ...stoppingOf(call)]);
    const wait = (refused: AbortSignal) =>
      this.tasks.waitUntilFinal(caller.apiKeyId, call.taskId, {
        seconds: this.config.syncWaitS,
        over: AbortSignal.any([gone, refused]),
      });
    const task = await waitingOnPurpose(reply.request, 'prefer', () =>
      this.keys.whileAdmitted(authorization, wait).catch(nullIfDeleted),
    );
    if (task && !isFinal(task.status)) throw await this.unfinished(call);
    await this.outcomeFollows(request, call, task ?? DELETED);
    return task!;
  }

  /**
   * Marks the response as one that carries the outcome. Call this with the final task, before the response is sent.
   * @throws ApiError the error of a failed task
   */
  async outcomeFollows({ reply }: CallRequest, { delivery }: StartedCall, task: Outcome): Promise<void> {
    if (task.error === null) return delivery?.outcomeFollows();
    await delivery?.failureFollows();
    throw outcomeError(task, reply.request);
  }

  /**
   * Yields the states of the task, from the current one to the final one. A slow reader misses states in between.
   * @throws ApiError as `untilSucceeded` does, but not for a failed task; task_cancelled if the task is already deleted
   */
  async *states(request: CallRequest, call: StartedCall): AsyncGenerator<ShownTask> {
    const { caller, reply } = request;
    const over = new AbortController();
    const { release } = await this.keys.admit(reply.request.headers.authorization, (refusal) => over.abort(refusal));
    const timer = setTimeout(() => over.abort(), this.config.syncWaitS * 1000);
    try {
      const queue = await this.live.follow(caller.apiKeyId, call.taskId).catch(nullIfDeleted);
      if (queue === null) return await this.outcomeFollows(request, call, DELETED);
      const ended = AbortSignal.any([over.signal, hungUp(reply), ...stoppingOf(call)]);
      ended.addEventListener('abort', () => queue.close(), { once: true });
      if (ended.aborted) queue.close();
      for await (const task of queue) {
        yield task;
        if (isFinal(task.status)) return;
      }
      throw over.signal.reason instanceof ApiError ? over.signal.reason : await this.unfinished(call);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  private async unfinished({ taskId, stopping, delivery }: StartedCall): Promise<ApiError> {
    await delivery?.nothingFollows();
    // Without this message, a client would not know where to find the result. It would repeat its request, and might
    // pay twice.
    const goesOn = `Its result will be at /v1/tasks/${taskId}; ${WHICH_RETRY}.`;
    return stopping?.aborted
      ? new ApiError('service_unavailable', { message: `The service is shutting down. ${goesOn}`, headers: RETRY })
      : new ApiError('generation_timeout', { message: `Waited ${this.config.syncWaitS} s. ${goesOn}`, headers: RETRY });
  }
}

const stoppingOf = ({ stopping }: StartedCall): AbortSignal[] => (stopping ? [stopping] : []);

const WHICH_RETRY = 'an equal request within 10 minutes gets it too, unless it has an Idempotency-Key of its own';
const RETRY = { 'x-should-retry': 'true', 'retry-after': '1' };

type Outcome = Pick<ShownTask, 'error' | 'usage'>;

/** What a deleted task counts as. Deleting an unfinished task cancels it first. */
const DELETED: Outcome = { error: taskError('task_cancelled'), usage: null };

function nullIfDeleted(error: unknown): null {
  if (error instanceof ApiError && error.code === 'task_not_found') return null;
  throw error;
}
