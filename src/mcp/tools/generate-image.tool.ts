import { Injectable } from '@nestjs/common';
import type { Model } from '../../models/definition/model.ts';
import { GenerationsService } from '../../generation/accept/generations.service.ts';
import { requestOfInput } from '../../generation/accept/graphql-request.ts';
import { Config } from '../../platform/config/config.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { jsonSchemaOf } from '../../platform/schema/json-schema-of.ts';
import { Creations } from '../running/creations.ts';
import { extraArgument, modelArgument, ofKind, perCaller, unionArguments, WORDS } from '../schemas/model-arguments.ts';
import { previewArgument, type ToolInput, toolInput, waitArgument } from '../schemas/tool-arguments.ts';
import { modelFor, readOwn } from './own-arguments.ts';
import { CREATES, type Tool, type ToolAnswer, type ToolArguments, type ToolCall } from '../contract/tool.ts';

/** Seconds after which a client that takes handles gets one for an unfinished image. */
const HANDLE_AFTER_S = 10;

@Injectable()
export class GenerateImageTool implements Tool {
  readonly name = 'generate_image';
  readonly title = 'Generate images';
  readonly description =
    'Makes images from a prompt, or edits the images in reference_images. Returns the finished task with links and previews, or the unfinished task after wait_s.';
  readonly output = jsonSchemaOf(TaskView) as Tool['output'];
  readonly annotations = CREATES;
  readonly hasViewer = true;
  readonly scope = 'generations:write';
  readonly bucket = 'create';
  readonly kind = 'image';
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
        preview: previewArgument,
      },
      ['prompt'],
    );
  }

  async run(call: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    const model = modelFor(given.model, this.kind, call.caller);
    const { parameters, waitS, preview } = readOwn(given, this.input(call.caller), this.config);
    const body = { ...requestOfInput(parameters), model };
    const creation = { tool: this.name, given, waitS, handleAfterS: HANDLE_AFTER_S, preview };
    return this.creations.run(call, creation, (reserveKey) =>
      this.generations.accept(call.caller, body, { origin: { source: 'mcp' }, reserveKey }),
    );
  }
}
