import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import { ModelsService } from '../../models/models.service.ts';
import type { ModelView } from '../../models/model.view.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { toolInput } from '../schemas/tool-arguments.ts';
import { READS, type Tool, type ToolAnswer, type ToolArguments, type ToolCall } from '../contract/tool.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

interface Given {
  kind?: MediaKind;
  model?: string;
  limit?: number;
  after?: string;
}

@Injectable()
export class ListModelsTool implements Tool {
  readonly name = 'list_models';
  readonly title = 'List models';
  readonly description = 'Lists the models with every parameter, allowed value and default, and whether they work now.';
  readonly input = toolInput({
    kind: { type: 'string', enum: ['image', 'video'], description: 'Only models that make this.' },
    model: { type: 'string', description: 'Only the model of this id.' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: 'Most models of the answer.',
    },
    after: { type: 'string', description: 'The id of the last model of the answer before.' },
  });
  readonly annotations = READS;
  readonly scope = null;
  readonly bucket = 'read';

  constructor(private readonly models: ModelsService) {}

  async run({ caller }: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    checkArguments(this.input, given);
    const { kind, model, limit = DEFAULT_LIMIT, after } = given as Given;
    if (model !== undefined) return answerOf([await this.models.find(caller, model, 'model')], false);
    const all = (await this.models.list(caller)).filter((each) => kind === undefined || each.kind === kind);
    const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    if (after !== undefined && from === 0) {
      throw new ApiError('invalid_value', { param: 'after', message: 'after must be the id of a model.' });
    }
    return answerOf(all.slice(from, from + limit), all.length > from + limit);
  }
}

function answerOf(data: ModelView[], hasMore: boolean): ToolAnswer {
  const lines = data.map(lineOf);
  if (hasMore) lines.push(`More follow: call list_models with after ${data.at(-1)!.id}.`);
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { object: 'list', data, ...(hasMore && { has_more: true }) },
  };
}

function lineOf({ id, kind, description, available, health, parameters }: ModelView): string {
  const { properties } = parameters as { properties: Record<string, unknown> };
  const state = available ? health.status : 'unavailable';
  return `- ${id} (${kind}, ${state}): ${description} Takes ${Object.keys(properties).join(', ')}.`;
}
