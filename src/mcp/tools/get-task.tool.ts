import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { briefSchemaOf } from '../schemas/brief-schema.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { TaskResults } from '../results/task-results.ts';
import { TaskWaits } from '../running/task-waits.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { previewArgument, taskIdArgument, toolInput, waitArgument } from '../schemas/tool-arguments.ts';
import { readOwn } from './own-arguments.ts';
import { READS, type Tool, type ToolAnswer, type ToolArguments, type ToolCall } from '../contract/tool.ts';

@Injectable()
export class GetTaskTool implements Tool {
  readonly name = 'get_task';
  readonly title = 'Get a task';
  readonly description = 'Reads a task and waits for its end, up to wait_s. Also gives new links to its files.';
  readonly output = briefSchemaOf(TaskView) as Tool['output'];
  readonly annotations = READS;
  readonly hasViewer = true;
  readonly scope = 'tasks:read';
  readonly bucket = 'read';
  readonly input;

  constructor(
    private readonly config: Config,
    private readonly waits: TaskWaits,
    private readonly results: TaskResults,
  ) {
    const wait_s = waitArgument(this.config.mcpWaitS);
    this.input = toolInput({ task_id: taskIdArgument, wait_s, preview: previewArgument }, ['task_id']);
  }

  async run(call: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    checkArguments(this.input, given);
    const { parameters, waitS, preview } = readOwn(given, this.input, this.config);
    const options = { seconds: waitS, stopping: this.waits.admit(call), scope: this.scope } as const;
    const task = await this.waits.untilFinal(call, parameters.task_id as string, options);
    return this.results.of(task, { preview, isCause: false, gone: call.gone });
  }
}
