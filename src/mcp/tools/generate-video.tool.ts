import { Injectable } from '@nestjs/common';
import type { Model } from '../../models/definition/model.ts';
import { GenerationsService } from '../../generation/accept/generations.service.ts';
import { requestOfInput } from '../../generation/accept/graphql-request.ts';
import { Config } from '../../platform/config/config.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { Creations } from '../running/creations.ts';
import { briefSchemaOf } from '../schemas/brief-schema.ts';
import { extraArgument, modelArgument, ofKind, perCaller, unionArguments, WORDS } from '../schemas/model-arguments.ts';
import { type ToolInput, toolInput, waitArgument } from '../schemas/tool-arguments.ts';
import { modelFor, readOwn } from './own-arguments.ts';
import { CREATES, type Tool, type ToolAnswer, type ToolArguments, type ToolCall } from '../contract/tool.ts';

@Injectable()
export class GenerateVideoTool implements Tool {
  readonly name = 'generate_video';
  readonly title = 'Generate a video';
  readonly description =
    'Makes a video from a prompt, and optionally from an image. A video takes minutes: the answer is often the unfinished task; then call get_task.';
  readonly output = briefSchemaOf(TaskView) as Tool['output'];
  readonly annotations = CREATES;
  readonly hasViewer = true;
  readonly scope = 'generations:write';
  readonly bucket = 'create';
  readonly kind = 'video';
  readonly input = perCaller((models) => this.inputOf(ofKind(models, this.kind)));

  constructor(
    private readonly config: Config,
    private readonly generations: GenerationsService,
    private readonly creations: Creations,
  ) {}

  private inputOf(models: readonly Model[]): ToolInput {
    return toolInput(
      {
        ...unionArguments(models, ['prompt']),
        model: modelArgument(models),
        ...unionArguments(models, WORDS),
        ...extraArgument(models),
        wait_s: waitArgument(this.config.mcpWaitS),
      },
      ['prompt'],
    );
  }

  async run(call: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    const model = modelFor(given.model, this.kind, call.caller);
    const { parameters, waitS } = readOwn(given, this.input(call.caller), this.config);
    const body = { ...requestOfInput(parameters), model };
    // Clients that take a handle get it at once.
    const creation = { tool: this.name, given, waitS, handleAfterS: 0, preview: 'inline' as const };
    return this.creations.run(call, creation, (reserveKey) =>
      this.generations.accept(call.caller, body, { origin: { source: 'mcp' }, reserveKey }),
    );
  }
}
