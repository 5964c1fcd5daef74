import { Injectable } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import { assertScope } from '../../auth/access/access.ts';
import { EstimatesService } from '../../tasks/insight/estimates.service.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { TaskResults } from '../results/task-results.ts';
import type { Exchange } from '../contract/tool.ts';
import { progressText, protocolTaskOf } from '../contract/task-handle.ts';

/** The methods of the tasks extension. They show tasks of this service as tasks of the protocol. */
@Injectable()
export class ProtocolTasks {
  constructor(
    private readonly tasks: TasksService,
    private readonly estimates: EstimatesService,
    private readonly results: TaskResults,
  ) {}

  /** @throws ApiError task_not_found, insufficient_scope */
  async get({ caller, gone }: Exchange, taskId: string): Promise<Result> {
    assertScope(caller, 'tasks:read');
    const task = await this.tasks.find(caller.apiKeyId, taskId);
    const shown = protocolTaskOf(task, await this.messageOf(task));
    if (shown.status !== 'completed') return { ...shown };
    const result = await this.results.of(task, { preview: 'inline', isCause: true, gone });
    return { ...shown, result: { resultType: 'complete', ...result } };
  }

  /** @throws ApiError task_not_found, insufficient_scope */
  async cancel({ caller }: Exchange, taskId: string): Promise<Result> {
    assertScope(caller, 'tasks:cancel');
    await this.tasks.cancel(caller.apiKeyId, taskId);
    return {};
  }

  /**
   * Changes nothing, because tasks of this service never ask the client for anything.
   * @throws ApiError task_not_found, insufficient_scope
   */
  async update({ caller }: Exchange, taskId: string): Promise<Result> {
    assertScope(caller, 'tasks:read');
    await this.tasks.find(caller.apiKeyId, taskId);
    return {};
  }

  private async messageOf(task: ShownTask): Promise<string> {
    if (task.status === 'succeeded') return 'Succeeded.';
    if (task.status === 'failed') return task.error!.message;
    if (task.status === 'running') return progressText(task);
    const { position } = await this.estimates.of(task.api_key_id, task.id);
    return position === null ? progressText(task) : `Waiting in the line, position ${position}.`;
  }
}
