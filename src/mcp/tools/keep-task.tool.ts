import { Injectable } from '@nestjs/common';
import { actorOf } from '../../auth/audit/actor.ts';
import { briefSchemaOf } from '../schemas/brief-schema.ts';
import { KeepTasks } from '../../tasks/acts/keep-tasks.ts';
import { MAX_COLLECTION_CHARACTERS } from '../../tasks/record/stars.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { TaskResults } from '../results/task-results.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { taskIdArgument, toolInput } from '../schemas/tool-arguments.ts';
import type { Tool, ToolAnswer, ToolArguments, ToolCall } from '../contract/tool.ts';

interface Given {
  task_id: string;
  keep?: boolean;
  collection?: string;
}

@Injectable()
export class KeepTaskTool implements Tool {
  readonly name = 'keep_task';
  readonly title = 'Keep a task';
  readonly description =
    'Keeps a finished task with its files: they are not deleted when their retention ends, until it is given up.';
  readonly input = toolInput(
    {
      task_id: taskIdArgument,
      keep: { type: 'boolean', default: true, description: 'false gives the task up.' },
      collection: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_COLLECTION_CHARACTERS,
        description: 'The name under which it is kept.',
      },
    },
    ['task_id'],
  );
  readonly output = briefSchemaOf(TaskView) as Tool['output'];
  readonly annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  readonly scope = 'generations:write';
  readonly bucket = 'create';

  constructor(
    private readonly keeps: KeepTasks,
    private readonly results: TaskResults,
  ) {}

  async run({ request, gone }: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    checkArguments(this.input, given);
    const { task_id: taskId, keep = true, collection = null } = given as unknown as Given;
    const kept = { taskId, output: null };
    const actor = actorOf(request);
    const task = keep ? await this.keeps.keep(actor, kept, collection) : await this.keeps.giveUp(actor, kept);
    return this.results.of(task, { preview: 'none', isCause: false, gone });
  }
}
