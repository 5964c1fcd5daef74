import { Injectable } from '@nestjs/common';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import { ModelsService } from '../../models/models.service.ts';
import type { ModelView } from '../../models/model.view.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { toolInput } from '../schemas/tool-arguments.ts';
import { READS, type Tool, type ToolAnswer, type ToolArguments, type ToolCall } from '../contract/tool.ts';

@Injectable()
export class ListModelsTool implements Tool {
  readonly name = 'list_models';
  readonly title = 'List models';
  readonly description = 'Lists the models with every parameter, allowed value and default, and whether they work now.';
  readonly input = toolInput({
    kind: { type: 'string', enum: ['image', 'video'], description: 'Only models that make this.' },
  });
  readonly annotations = READS;
  readonly scope = null;
  readonly bucket = 'read';

  constructor(private readonly models: ModelsService) {}

  async run(_call: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    checkArguments(this.input, given);
    const { kind } = given as { kind?: MediaKind };
    const data = (await this.models.list()).filter((model) => kind === undefined || model.kind === kind);
    return {
      content: [{ type: 'text', text: data.map(lineOf).join('\n') }],
      structuredContent: { object: 'list', data },
    };
  }
}

function lineOf({ id, kind, description, available, health, parameters }: ModelView): string {
  const { properties } = parameters as { properties: Record<string, unknown> };
  const state = available ? health.status : 'unavailable';
  return `- ${id} (${kind}, ${state}): ${description} Takes ${Object.keys(properties).join(', ')}.`;
}
