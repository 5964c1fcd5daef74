import { Injectable } from '@nestjs/common';
import { briefSchemaOf } from '../schemas/brief-schema.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { TaskResults } from '../results/task-results.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { taskIdArgument, toolInput } from '../schemas/tool-arguments.ts';
import type { Tool, ToolAnswer, ToolArguments, ToolCall } from '../contract/tool.ts';

@Injectable()
export class CancelTaskTool implements Tool {
  readonly name = 'cancel_task';
  readonly title = 'Cancel a task';
  readonly description =
    'Cancels an unfinished task. A finished one stays as it is. What a provider has begun may still cost.';
  readonly input = toolInput({ task_id: taskIdArgument }, ['task_id']);
  readonly output = briefSchemaOf(TaskView) as Tool['output'];
  readonly annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true };
  readonly scope = 'tasks:cancel';
  readonly bucket = 'read';

  constructor(
    private readonly tasks: TasksService,
    private readonly results: TaskResults,
  ) {}

  async run({ caller, gone }: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    checkArguments(this.input, given);
    const { task } = await this.tasks.cancel(caller.apiKeyId, given.task_id as string);
    return this.results.of(task, { preview: 'none', isCause: false, gone });
  }
}
