import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { findModel } from '../../models/catalog.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Config } from '../../platform/config/config.ts';
import { paramPath } from '../../platform/schema/param-path.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { modelsFor } from '../../models/catalog.ts';
import { ofKind } from '../schemas/model-arguments.ts';
import {
  type PreviewChoice,
  previewArgument,
  type ToolInput,
  toolInput,
  waitArgument,
} from '../schemas/tool-arguments.ts';
import type { ToolArguments } from '../contract/tool.ts';

interface OwnArguments {
  /** The arguments that are parameters of the model. The creation checks them. */
  parameters: ToolArguments;
  waitS: number;
  preview: PreviewChoice;
}

/** A key that may use every model. */
const ANY_MODEL = { models: [['*']] };
const OWN = toolInput({ wait_s: waitArgument(0), preview: previewArgument });

/**
 * Separates the arguments that say how to answer from the parameters of the model.
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
 * The model of a call, or the first of its kind that the caller may use.
 * @throws ApiError invalid_value for an unknown model or one that makes another kind; model_not_found or
 *   model_not_allowed if the caller may use no model of this kind
 */
export function modelFor(given: unknown, kind: MediaKind, caller: Caller): unknown {
  const ids = ofKind(modelsFor(caller), kind).map(({ id }) => id);
  if (ids.length === 0) throw noModel(kind);
  if (given === undefined) return ids[0];
  // The creation of the task refuses a model that is no string, or that the caller may not use.
  if (typeof given !== 'string' || findModel(given)?.kind === kind) return given;
  const message = `model must be one of ${ids.join(', ')}, which make ${kind}s.`;
  throw new ApiError('invalid_value', { param: 'model', message });
}

function noModel(kind: MediaKind): ApiError {
  return ofKind(modelsFor(ANY_MODEL), kind).length > 0
    ? new ApiError('model_not_allowed', {
        param: 'model',
        message: `This API key may use no model that makes ${kind}s.`,
      })
    : new ApiError('model_not_found', {
        status: 400,
        param: 'model',
        message: `There is no model that makes ${kind}s.`,
      });
}
