import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { CallsService } from '../../calls/calls.service.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import type { ToolCall } from '../contract/tool.ts';

/**
 * How long an abandoned task is left alone, because a client may repeat a broken call within seconds and join its task.
 */
const GRACE_MS = 10_000;

interface StartedTask {
  taskId: string;
  /** The fingerprint of the call. A repeated call has the same one. */
  fingerprint: string;
}

/**
 * In the protocol, a client cancels a call by closing the stream. GRACE_MS later the task of the call is cancelled, if
 * no worker has claimed it and no other call has joined it. A running task goes on, because it may be paid for. A
 * process that stops forgets the abandoned tasks, so they run.
 */
@Injectable()
export class AbandonedTasks implements OnApplicationShutdown {
  private readonly logger = new Logger('mcp');
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(
    private readonly calls: CallsService,
    private readonly tasks: TasksService,
  ) {}

  /** Checks later whether to cancel the task, if the connection closes before the answer is written. */
  watch({ caller, reply }: ToolCall, started: StartedTask): void {
    const left = () => {
      if (!reply.raw.writableFinished) this.later(caller.apiKeyId, started);
    };
    if (reply.raw.destroyed)
      left(); // the connection closed while the task was created
    else reply.raw.once('close', left);
  }

  onApplicationShutdown(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  private later(apiKeyId: string, started: StartedTask): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.cancel(apiKeyId, started).catch((err: unknown) => {
        this.logger.warn({ event: 'abandoned_task.kept', task_id: started.taskId, err });
      });
    }, GRACE_MS).unref();
    this.timers.add(timer);
  }

  private async cancel(apiKeyId: string, { taskId, fingerprint }: StartedTask): Promise<void> {
    if (!(await this.calls.isAbandoned(apiKeyId, fingerprint, taskId))) return;
    const { cancelled } = await this.tasks.cancel(apiKeyId, taskId, { unclaimed: true });
    if (cancelled) await this.calls.forgetAbandoned(apiKeyId, fingerprint, taskId);
  }
}
