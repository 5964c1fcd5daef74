import { Injectable } from '@nestjs/common';
import { KeyWatch } from '../auth/credentials/key-watch.ts';
import { ApiError } from '../errors/api-error.ts';
import { Config } from '../platform/config/config.ts';
import { waitingOnPurpose } from '../platform/http/observe-requests.ts';
import { FollowTasks } from '../tasks/live/follow.ts';
import { hungUp } from '../tasks/live/waits.ts';
import type { ShownTask } from '../tasks/record/task.entity.ts';
import { isFinal } from '../tasks/record/task-status.ts';
import { TasksService } from '../tasks/acts/tasks.service.ts';
import type { CallRequest, StartedCall } from './calls.service.ts';

/** Waits for the task of a call, woken by the feed: it never polls the database. */
@Injectable()
export class CallWaits {
  constructor(
    private readonly config: Config,
    private readonly keys: KeyWatch,
    private readonly tasks: TasksService,
    private readonly live: FollowTasks,
  ) {}

  /**
   * Waits for the end of the task. A client that disconnects cancels nothing.
   * @throws ApiError generation_timeout, service_unavailable, task_cancelled; those of a refused API key
   */
  async untilFinal({ caller, reply }: CallRequest, call: StartedCall): Promise<ShownTask> {
    const { authorization } = reply.request.headers;
    const gone = AbortSignal.any([hungUp(reply), ...stoppingOf(call)]);
    const wait = (refused: AbortSignal) =>
      this.tasks.waitUntilFinal(caller.apiKeyId, call.taskId, {
        seconds: this.config.syncWaitS,
        over: AbortSignal.any([gone, refused]),
      });
    const task = await waitingOnPurpose(reply.request, 'prefer', () =>
      this.keys.whileAdmitted(authorization, wait).catch(throwDeleted),
    );
    if (isFinal(task.status)) return task;
    throw this.unfinished(call);
  }

  /**
   * Yields the states of the task up to its final one, the current one first. A slow reader gets the latest state.
   * @throws ApiError like `untilFinal`
   */
  async *states({ caller, reply }: CallRequest, call: StartedCall): AsyncGenerator<ShownTask> {
    const over = new AbortController();
    const { release } = await this.keys.admit(reply.request.headers.authorization, (refusal) => over.abort(refusal));
    const timer = setTimeout(() => over.abort(), this.config.syncWaitS * 1000);
    try {
      const queue = await this.live.follow(caller.apiKeyId, call.taskId).catch(throwDeleted);
      const ended = AbortSignal.any([over.signal, hungUp(reply), ...stoppingOf(call)]);
      ended.addEventListener('abort', () => queue.close(), { once: true });
      if (ended.aborted) queue.close();
      for await (const task of queue) {
        yield task;
        if (isFinal(task.status)) return;
      }
      throw over.signal.reason instanceof ApiError ? over.signal.reason : this.unfinished(call);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  private unfinished({ taskId, stopping }: StartedCall): ApiError {
    // A client that only repeats its request would buy twice.
    const goesOn = `Its result will be at /v1/tasks/${taskId}; ${WHICH_RETRY}.`;
    return stopping?.aborted
      ? new ApiError('service_unavailable', { message: `The service is shutting down. ${goesOn}`, headers: RETRY })
      : new ApiError('generation_timeout', { message: `Waited ${this.config.syncWaitS} s. ${goesOn}`, headers: RETRY });
  }
}

const stoppingOf = ({ stopping }: StartedCall): AbortSignal[] => (stopping ? [stopping] : []);

const WHICH_RETRY =
  'a retry by an OpenAI client, or with the same Idempotency-Key, gets it too; any other is a new task';
const RETRY = { 'x-should-retry': 'true', 'retry-after': '1' };

/** A deleted task was cancelled first. */
function throwDeleted(error: unknown): never {
  throw error instanceof ApiError && error.code === 'task_not_found' ? new ApiError('task_cancelled') : error;
}
