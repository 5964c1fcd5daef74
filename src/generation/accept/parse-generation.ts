import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { assertMayUse } from '../../auth/access/allowed-models.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { catalog, findModel, modelsFor } from '../../models/catalog.ts';
import { lifecycleOf, type Model } from '../../models/definition/model.ts';
import { parsePixels } from '../../models/definition/sizes.ts';
import { sizeFault, takesSize } from '../../models/definition/pixel-rule.ts';
import {
  type ImageUrl,
  imageUrlsOf,
  isAllowed,
  MAX_URL_LENGTH,
  modelParametersOf,
} from '../../models/definition/parameters.ts';
import { toApiError } from '../../models/schema-errors.ts';
import { canonicalJson } from '../../platform/schema/canonical-json.ts';
import { paramPath } from '../../platform/schema/param-path.ts';
import type { ResolvedInput } from '../../providers/contract/provider.ts';
import type { TaskPriority } from '../../tasks/record/task-priority.ts';

/** A validated creation request. */
export interface ParsedGeneration {
  model: Model;
  /**
   * The model's parameters in catalogue order. A parameter that was not given has its default if the request allows
   * this parameter, and is absent otherwise.
   */
  input: ResolvedInput;
  metadata: Record<string, string>;
  priority: TaskPriority;
  /**
   * The id as the client gave it; null if the client gave none. It is not yet checked that the task belongs to the
   * caller.
   */
  parentTaskId: string | null;
}

/** @throws ApiError `invalid_url` or `url_not_allowed` for an http(s) URL that the service would not read */
export type CheckUrl = (url: string) => void;

/**
 * Validates a creation request of any interface. Values are neither coerced nor dropped.
 * @param body parsed JSON, in the field names of REST
 * @param caller the owner of the request, whose key may be limited to some models
 * @throws ApiError for the first fault, with the name of the field if a field is at fault
 */
export function parseGeneration(body: unknown, caller: Pick<Caller, 'models'>, checkUrl: CheckUrl): ParsedGeneration {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ApiError('invalid_body');
  const request = body as Record<string, unknown>;
  const model = readModel(request.model, caller);
  const fault = firstFault(model, request);
  if (fault) throw toApiError(fault, model, request, caller);
  const invalidText = findInvalidText(request);
  if (invalidText) throw new ApiError('invalid_unicode', { param: paramPath(invalidText) });
  assertSize(model, request.size);
  for (const image of imageUrlsOf(model, request)) assertUsableUrl(image, checkUrl);
  return {
    model,
    input: resolveInput(model, request),
    metadata: { ...(request.metadata as Record<string, string>) },
    priority: (request.priority as TaskPriority | undefined) ?? 'normal',
    parentTaskId: (request.parent_task_id as string | undefined) ?? null,
  };
}

function readModel(id: unknown, caller: Pick<Caller, 'models'>): Model {
  const fail = (
    code: 'missing_required_parameter' | 'invalid_type' | 'model_not_found',
    message: string,
    hint = listOfModels(caller),
  ) => new ApiError(code, { status: 400, param: 'model', message: `${message} ${hint}` });

  if (id === undefined) throw fail('missing_required_parameter', 'model is required.');
  if (typeof id !== 'string') throw fail('invalid_type', 'model must be a string.');
  const model = findModel(id);
  if (!model) throw fail('model_not_found', 'There is no such model.');
  assertMayUse(caller, model);
  const { status, replacement } = lifecycleOf(model);
  if (status !== 'retired') return model;
  throw fail('model_not_found', `${id} is retired.`, replacement ? `Use ${replacement} instead.` : undefined);
}

function listOfModels(caller: Pick<Caller, 'models'>): string {
  const ids = modelsFor(caller).map((model) => model.id);
  return ids.length > 0 ? `The models are ${ids.join(', ')}.` : 'This API key may use no model.';
}

/**
 * Finds a text or name with NUL or half a surrogate pair. A REST body was checked for this when it was read; GraphQL
 * input was not.
 * @returns the path to the first one, or null
 */
function findInvalidText(value: unknown): (string | number)[] | null {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0') ? null : [];
  if (typeof value !== 'object' || value === null) return null;
  for (const key in value) {
    const rest = findInvalidText(key) ?? findInvalidText((value as Record<string, unknown>)[key]);
    if (rest) return [Array.isArray(value) ? Number(key) : key, ...rest];
  }
  return null;
}

/**
 * Whether this model takes `input` and resolves it to the same values. Another version of the model has resolved
 * `input` before.
 */
export function takesUnchanged(model: Model, input: Record<string, unknown>): boolean {
  const request = { model: model.id, ...input };
  const size = input.size as string | undefined;
  const pixels = size === undefined ? null : parsePixels(size);
  if (
    firstFault(model, request) ||
    (size !== undefined && !(model.pixels && pixels && takesSize(model.pixels, pixels)))
  ) {
    return false;
  }
  return canonicalJson(resolveInput(model, request)) === canonicalJson(input);
}

/** Checks what a JSON Schema cannot say about exact pixels. @throws ApiError invalid_value */
function assertSize({ pixels }: Model, given: unknown): void {
  if (!pixels || typeof given !== 'string') return;
  const size = parsePixels(given);
  if (!size || !takesSize(pixels, size))
    throw new ApiError('invalid_value', { param: 'size', message: sizeFault(pixels, given) });
}

/** @throws ApiError string_too_long, invalid_url, url_not_allowed */
function assertUsableUrl({ param, url }: ImageUrl, checkUrl: CheckUrl): void {
  if (!/^http/i.test(url)) return; // the id of a file, or a data: URL
  if (url.length > MAX_URL_LENGTH) {
    const message = `${param} must be at most ${MAX_URL_LENGTH} characters long, if it is an http(s) URL.`;
    throw new ApiError('string_too_long', { param, message });
  }
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

function resolveInput({ parameters }: Model, request: Record<string, unknown>): ResolvedInput {
  const input: Record<string, unknown> = {};
  for (const [name, byDefault] of modelParametersOf(parameters)) {
    const value = request[name] ?? (isAllowed(name, parameters, request) ? byDefault : undefined);
    if (value !== undefined) input[name] = value;
  }
  return input as unknown as ResolvedInput;
}

/**
 * Validates without changing the input: no coercion, no defaults, no removal. `verbose` adds the schema to an error,
 * because the message needs it. The format `image` only marks fields; later steps check their values.
 */
const OPTIONS = {
  strict: true,
  allErrors: false,
  verbose: true,
  formats: { image: true },
  // The meta-schema is not compiled, because that took 80 ms of each start. A test checks the models' schemas with the
  // meta-schema.
  meta: false,
  validateSchema: false,
} as const;

const validators = new WeakMap<Model, ValidateFunction>();

/**
 * Compiling takes milliseconds, so the schemas of the built-in models are compiled at startup. The operator may declare
 * hundreds of models, so the schema of a declared model is compiled at its first request.
 */
for (const model of catalog.shipped) validatorOf(model);

/** @returns the first error in a creation request for this model, or null */
function firstFault(model: Model, body: object): ErrorObject | null {
  const validate = validatorOf(model);
  return validate(body) ? null : validate.errors![0];
}

function validatorOf(model: Model): ValidateFunction {
  const known = validators.get(model);
  if (known) return known;
  // One Ajv instance per model: an instance keeps all that it has compiled, and models come and go while the service
  // runs.
  const validate = new Ajv2020(OPTIONS).compile(model.parameters);
  validators.set(model, validate);
  return validate;
}
