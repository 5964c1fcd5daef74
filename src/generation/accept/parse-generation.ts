import { ApiError } from '../../errors/api-error.ts';
import { findModel, MODELS } from '../../models/catalog.ts';
import { imageUrlsOf, type ImageUrl } from '../../models/image-urls.ts';
import type { Model } from '../../models/model.ts';
import { toApiError } from '../../models/schema-errors.ts';
import { firstFault } from '../../models/validate.ts';
import { paramPath } from '../../platform/schema/param-path.ts';
import type { ResolvedInput } from '../../providers/provider.ts';

/** A creation request that is known to be good. */
export interface ParsedGeneration {
  model: Model;
  /** Defaults filled in, keys in catalogue order, only what the model takes; optional fields not given stay away. */
  input: ResolvedInput;
  metadata: Record<string, string>;
}

/** Throws ApiError `invalid_url` or `url_not_allowed` for an address we would not call. */
export type CheckUrl = (url: string) => void;

/**
 * Reads a creation request, the same for REST and GraphQL. Nothing is coerced and nothing dropped.
 * @param body parsed JSON, in the field names of REST
 * @throws ApiError naming the first fault and its field
 */
export function parseGeneration(
  body: unknown,
  checkUrl: CheckUrl,
  models: readonly Model[] = MODELS,
): ParsedGeneration {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ApiError('invalid_body');
  const request = body as Record<string, unknown>;
  const model = readModel(request.model, models);
  const fault = firstFault(model, request);
  if (fault) throw toApiError(fault, model, request);
  const broken = brokenText(request);
  if (broken) throw new ApiError('invalid_unicode', { param: paramPath(broken) });
  for (const image of imageUrlsOf(model, request)) refuseBadUrl(image, checkUrl);
  return { model, input: resolve(model, request), metadata: { ...(request.metadata as Record<string, string>) } };
}

function readModel(id: unknown, models: readonly Model[]): Model {
  const fail = (
    code: 'missing_required_parameter' | 'invalid_type' | 'model_not_found',
    message: string,
    hint = choiceOf(models),
  ) => new ApiError(code, { status: 400, param: 'model', message: `${message} ${hint}` });

  if (id === undefined) throw fail('missing_required_parameter', 'model is required.');
  if (typeof id !== 'string') throw fail('invalid_type', 'model must be a string.');
  const model = findModel(id, models);
  if (!model) throw fail('model_not_found', 'There is no such model.');
  const { status, replacement } = model.lifecycle;
  if (status !== 'retired') return model;
  throw fail('model_not_found', `${id} is retired.`, replacement ? `Use ${replacement} instead.` : undefined);
}

function choiceOf(models: readonly Model[]): string {
  const ids = models.filter(({ lifecycle }) => lifecycle.status !== 'retired').map((model) => model.id);
  return `The models are ${ids.join(', ')}.`;
}

/**
 * The REST body was refused for this already, where it was read; the GraphQL input was not.
 * @returns the way to the first broken text, null when all is well
 */
function brokenText(value: unknown): (string | number)[] | null {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0') ? null : [];
  if (typeof value !== 'object' || value === null) return null;
  for (const key in value) {
    const rest = brokenText(key) ?? brokenText((value as Record<string, unknown>)[key]);
    if (rest) return [Array.isArray(value) ? Number(key) : key, ...rest];
  }
  return null;
}

function refuseBadUrl({ param, url }: ImageUrl, checkUrl: CheckUrl): void {
  const parsed = URL.parse(url);
  if (!parsed) throw new ApiError('invalid_url', { param, message: `${param} must be an absolute http(s) URL.` });
  if (parsed.username || parsed.password) {
    throw new ApiError('invalid_url', { param, message: `${param} must not carry a user name or password.` });
  }
  try {
    checkUrl(url);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, { param, message: error.message, cause: error });
  }
}

function resolve(model: Model, request: Record<string, unknown>): ResolvedInput {
  const input: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(model.parameters.properties)) {
    if (name === 'model' || name === 'metadata') continue;
    const value = request[name] ?? schema.default;
    if (value !== undefined) input[name] = value;
  }
  return input as unknown as ResolvedInput;
}
