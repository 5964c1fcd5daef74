import { ApiError } from '../../errors/api-error.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Config } from '../../platform/config/config.ts';
import { paramPath } from '../../platform/schema/param-path.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { modelsOf } from '../schemas/model-arguments.ts';
import {
  type PreviewChoice,
  previewArgument,
  type ToolInput,
  toolInput,
  waitArgument,
} from '../schemas/tool-arguments.ts';
import type { ToolArguments } from '../contract/tool.ts';

interface OwnArguments {
  /** The other arguments: parameters of the model, which the creation checks. */
  parameters: ToolArguments;
  waitS: number;
  preview: PreviewChoice;
}

const OWN = toolInput({ wait_s: waitArgument(0), preview: previewArgument });

/**
 * Takes out the arguments that say how to answer, and are no parameters of a model.
 * @throws ApiError unknown_parameter, invalid_type, invalid_value, value_out_of_range
 */
export function readOwn(given: ToolArguments, input: ToolInput, { mcpWaitS }: Pick<Config, 'mcpWaitS'>): OwnArguments {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(input.properties, name));
  if (unknown !== undefined) {
    const param = paramPath([unknown]);
    const message = `${param} is no argument of this tool. It takes ${Object.keys(input.properties).join(', ')}.`;
    throw new ApiError('unknown_parameter', { param, message });
  }
  const { wait_s, preview, ...parameters } = given;
  const own = { ...(wait_s !== undefined && { wait_s }), ...(preview !== undefined && { preview }) };
  checkArguments(OWN, own);
  return { parameters, waitS: (own.wait_s as number) ?? mcpWaitS, preview: (own.preview as PreviewChoice) ?? 'inline' };
}

/**
 * The model of a call, or the first of its kind.
 * @throws ApiError invalid_value for one that does not make this kind
 */
export function modelFor(given: unknown, kind: MediaKind): unknown {
  const ids = modelsOf(kind).map(({ id }) => id);
  if (given === undefined) return ids[0];
  if (typeof given !== 'string' || ids.includes(given)) return given; // the creation refuses another type
  const message = `model must be one of ${ids.join(', ')}, which make ${kind}s.`;
  throw new ApiError('invalid_value', { param: 'model', message });
}
