import { Injectable } from '@nestjs/common';
import type { Scope } from '../../auth/access/caller.ts';
import { KeyWatch } from '../../auth/credentials/key-watch.ts';
import { OpenCalls } from '../../calls/open-calls.ts';
import { stopCounting } from '../../platform/http/admission/load-bounds.ts';
import { waitingOnPurpose } from '../../platform/http/observe-requests.ts';
import { FollowTasks } from '../../tasks/live/follow.ts';
import { isFinal, type ShownTask } from '../../tasks/record/task.entity.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import type { ToolCall } from '../contract/tool.ts';

/**
 * A waiting call with a small body does not count as in flight. One with a larger body does, because the body stays in
 * memory.
 */
const SMALL_BODY_BYTES = 64 * 1024;

interface WaitOptions {
  seconds: number;
  /** Aborts when the call must be answered without further waiting. */
  stopping: AbortSignal;
  scope: Scope;
}

/** Waits for tasks by following their states, and bounds how many calls wait. */
@Injectable()
export class TaskWaits {
  constructor(
    private readonly keys: KeyWatch,
    private readonly open: OpenCalls,
    private readonly live: FollowTasks,
    private readonly tasks: TasksService,
  ) {}

  /**
   * Call before anything is created, because too many waiting calls are refused.
   * @returns a signal that aborts when the service stops
   * @throws ApiError rate_limit_exceeded, service_unavailable
   */
  admit({ caller, reply }: ToolCall): AbortSignal {
    return this.open.admit(caller.apiKeyId, reply);
  }

  /**
   * Waits for the end of a task and reports its progress.
   * @returns the task, which may be unfinished after `seconds`, or when the client has gone or the service stops
   * @throws ApiError task_not_found; those of a refused API key
   */
  async untilFinal(call: ToolCall, taskId: string, { seconds, stopping, scope }: WaitOptions): Promise<ShownTask> {
    if (seconds === 0) return this.tasks.find(call.caller.apiKeyId, taskId);
    if (Number(call.request.headers['content-length'] ?? Infinity) <= SMALL_BODY_BYTES) stopCounting(call.request);
    const wait = (refused: AbortSignal) =>
      this.follow(call, taskId, AbortSignal.any([call.gone, stopping, refused, AbortSignal.timeout(seconds * 1000)]));
    return waitingOnPurpose(call.request, 'prefer', () =>
      this.keys.whileAdmitted(call.request.headers.authorization, wait, scope),
    );
  }

  private async follow(call: ToolCall, taskId: string, over: AbortSignal): Promise<ShownTask> {
    const states = await this.live.follow(call.caller.apiKeyId, taskId);
    const close = () => states.close();
    over.addEventListener('abort', close, { once: true });
    if (over.aborted) close();
    try {
      for await (const task of states) {
        if (isFinal(task.status)) return task;
        call.report(task);
      }
    } finally {
      over.removeEventListener('abort', close);
      close();
    }
    return this.tasks.find(call.caller.apiKeyId, taskId);
  }
}
