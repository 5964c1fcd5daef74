import { Injectable } from '@nestjs/common';
import { RetriesService } from '../../generation/retry/retries.service.ts';
import { Config } from '../../platform/config/config.ts';
import { briefSchemaOf } from '../schemas/brief-schema.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { Creations } from '../running/creations.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { taskIdArgument, toolInput, waitArgument } from '../schemas/tool-arguments.ts';
import { CREATES, type Tool, type ToolAnswer, type ToolArguments, type ToolCall } from '../contract/tool.ts';

const HANDLE_AFTER_S = { image: 10, video: 0 };

@Injectable()
export class RetryTaskTool implements Tool {
  readonly name = 'retry_task';
  readonly title = 'Make a task again';
  readonly description =
    'Makes a new task from a finished one, with the same parameters, or with another prompt. Returns the new task.';
  readonly output = briefSchemaOf(TaskView) as Tool['output'];
  readonly annotations = CREATES;
  readonly hasViewer = true;
  readonly scope = 'generations:write';
  readonly bucket = 'create';
  readonly input;

  constructor(
    private readonly config: Config,
    private readonly tasks: TasksService,
    private readonly retries: RetriesService,
    private readonly creations: Creations,
  ) {
    this.input = toolInput(
      {
        task_id: { ...taskIdArgument, description: 'The id of the finished task, task_….' },
        prompt: { type: 'string', description: 'The prompt of the new task; that of the first one when left out.' },
        wait_s: waitArgument(this.config.mcpWaitS),
      },
      ['task_id'],
    );
  }

  async run(call: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    checkArguments(this.input, given);
    const { task_id, prompt, wait_s } = given as { task_id: string; prompt?: string; wait_s?: number };
    const { kind } = await this.tasks.find(call.caller.apiKeyId, task_id);
    const waitS = wait_s ?? this.config.mcpWaitS;
    const creation = { tool: this.name, given, waitS, handleAfterS: HANDLE_AFTER_S[kind], preview: 'inline' as const };
    const changes = prompt === undefined ? {} : { input: { prompt } };
    return this.creations.run(call, creation, (reserveKey) =>
      this.retries.retry(call.caller, task_id, changes, { source: 'mcp', reserveKey }),
    );
  }
}
