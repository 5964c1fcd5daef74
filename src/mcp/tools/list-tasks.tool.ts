import { Injectable } from '@nestjs/common';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Model } from '../../models/definition/model.ts';
import { briefSchemaOf } from '../schemas/brief-schema.ts';
import { toList } from '../../platform/schema/list-of.ts';
import { TaskListView } from '../../tasks/read/task.view.ts';
import { assertTaskId } from '../../tasks/record/task-id.ts';
import { TASK_STATUSES, type TaskStatus } from '../../tasks/record/task.entity.ts';
import { TaskViews } from '../../tasks/read/task-views.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { taskLine } from '../results/task-text.ts';
import { Lookups } from '../running/lookups.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { perCaller } from '../schemas/model-arguments.ts';
import { toolInput } from '../schemas/tool-arguments.ts';
import { READS, type Tool, type ToolAnswer, type ToolArguments, type ToolCall } from '../contract/tool.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;

/**
 * The maximum number of models that the schema lists. If there are more, it lists none, because operators may declare
 * hundreds.
 */
const MAX_LISTED = 20;
const idsOf = (models: readonly Model[]) =>
  models.length > 0 && models.length <= MAX_LISTED ? { enum: models.map(({ id }) => id) } : {};

interface Given {
  status?: TaskStatus;
  kind?: MediaKind;
  model?: string;
  limit?: number;
  after?: string;
}

@Injectable()
export class ListTasksTool implements Tool {
  readonly name = 'list_tasks';
  readonly title = 'List tasks';
  readonly description = 'Lists your tasks, the newest first, by whichever interface they were created.';
  readonly input = perCaller((models) =>
    toolInput({
      status: { type: 'string', enum: TASK_STATUSES, description: 'Only tasks with this status.' },
      kind: { type: 'string', enum: ['image', 'video'], description: 'Only tasks that make this.' },
      model: { type: 'string', ...idsOf(models), description: 'Only tasks of this model.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_LIMIT,
        default: DEFAULT_LIMIT,
        description: 'Tasks per page.',
      },
      after: { type: 'string', description: 'The last_id of the page before.' },
    }),
  );
  readonly output = briefSchemaOf(TaskListView) as Tool['output'];
  readonly annotations = READS;
  readonly scope = 'tasks:read';
  readonly bucket = 'read';

  constructor(
    private readonly tasks: TasksService,
    private readonly views: TaskViews,
    private readonly lookups: Lookups,
  ) {}

  async run(call: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    checkArguments(this.input(call.caller), given);
    const { limit = DEFAULT_LIMIT, after, ...filter } = given as Given;
    assertTaskId('after', after);
    const page = await this.lookups.take(call, () =>
      this.tasks.list(call.caller.apiKeyId, filter, { limit, after, order: 'desc' }),
    );
    const views = page.tasks.map((task) => this.views.of(task));
    const list = toList(views, page.hasMore, ({ task_id }) => task_id);
    const lines = views.length > 0 ? views.map(taskLine) : ['No task matches.'];
    if (list.has_more) lines.push(`More follow: call list_tasks with after ${list.last_id}.`);
    return { content: [{ type: 'text', text: lines.join('\n') }], structuredContent: { ...list } };
  }
}
