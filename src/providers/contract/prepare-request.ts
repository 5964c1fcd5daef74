import type { Approximation } from '../../tasks/record/task.entity.ts';
import {
  type Definition,
  definitionOf,
  OF_WORKER,
  type PreparedRequest,
  type Provider,
  type ProviderRequest,
  type ResolvedInput,
  UnsupportedRequest,
} from './provider.ts';
import type { Condition } from '../../models/definition/declared-binding.ts';
import { eachText, slotsOf } from '../templates/template.ts';
import { chooseSize, parsePixels, type Size, type SizeChoice, type SizeTable } from '../../models/definition/sizes.ts';

/**
 * Hints that a provider may ignore, each with the value that the provider uses instead. The task records an ignored
 * hint.
 */
const LEFT_TO_MODEL = { quality: 'auto' } as const;
type Hint = keyof typeof LEFT_TO_MODEL;

export const isHint = (param: string): param is Hint => Object.hasOwn(LEFT_TO_MODEL, param);

/**
 * Calls `provider.prepare`, if the request fits the binding and no parameter would be dropped silently. A parameter may
 * be sent, replaced as `approximate` says, or ignored as a hint, which the task records. A parameter with a single
 * allowed value may be left out.
 * @throws UnsupportedRequest
 */
export function prepareRequest(provider: Provider, request: ProviderRequest): PreparedRequest {
  const { approximate = [], when = {}, send, submit, workflow } = request.upstream.declared ?? {};
  assertFits(when, request);
  const definition = definitionOf(request);
  const inTemplate = namesIn(workflow === undefined ? (send ?? submit) : definition?.workflows.get(workflow));
  const takes = (param: string): boolean =>
    (provider.takes as readonly string[]).includes(param) ||
    inTemplate.has(param) ||
    (provider.takesOwn === true && param.startsWith('x_'));
  const input: Record<string, unknown> = {};
  const approximations: Approximation[] = [];
  for (const [param, value] of Object.entries(request.input)) {
    if (value === undefined || OF_WORKER.includes(param)) continue;
    if (approximate.includes(param)) {
      const used = definition?.parameters.properties[param]?.default;
      approximations.push(...approximated(param, value, used));
      if (used !== undefined && takes(param)) input[param] = used;
    } else if (takes(param)) input[param] = value;
    else if (isHint(param)) approximations.push(...leftToModel(param, request.input));
    else if (!hasOneValue(definition, param)) {
      throw new UnsupportedRequest(param, `${provider.name} does not take ${param}.`);
    }
  }
  const prepared = provider.prepare({ ...request, input: input as unknown as ResolvedInput });
  if (approximations.length === 0) return prepared;
  return { ...prepared, approximations: [...prepared.approximations, ...approximations] };
}

/**
 * Checks the conditions of a binding. A list of values also permits a request without the parameter.
 * @throws UnsupportedRequest
 */
function assertFits(when: Condition, { input }: ProviderRequest): void {
  for (const [param, condition] of Object.entries(when)) {
    const value = (input as unknown as Record<string, unknown>)[param];
    const isThere = value !== undefined && !(Array.isArray(value) && value.length === 0);
    const fits =
      condition === 'present'
        ? isThere
        : condition === 'absent'
          ? !isThere
          : !isThere || condition.includes(value as string);
    if (!fits) throw new UnsupportedRequest(param, `The binding does not take this value of ${param}.`);
  }
}

/** Whether a parameter has only one value. Such a parameter need not be sent. */
const hasOneValue = (definition: Definition | undefined, param: string): boolean =>
  definition?.parameters.properties[param]?.enum?.length === 1;

/** The slots that are filled with the size of a request, and the parameters that determine the size. */
const SIZE_SLOTS = ['width', 'height', 'size'];
const SIZE_PARAMETERS = ['size', 'aspect_ratio', 'resolution'];

/** Cache: the parameters and other slots that each template uses. Requests with the same binding share its template. */
const namesInTemplate = new WeakMap<object, ReadonlySet<string>>();
const NO_NAMES: ReadonlySet<string> = new Set();

function namesIn(template: unknown): ReadonlySet<string> {
  if (typeof template !== 'object' || template === null) return NO_NAMES;
  const known = namesInTemplate.get(template);
  if (known) return known;
  const names = new Set<string>();
  eachText(template, (text) => slotsOf(text).forEach(({ name }) => names.add(name)));
  if (SIZE_SLOTS.some((slot) => names.has(slot))) SIZE_PARAMETERS.forEach((name) => names.add(name));
  namesInTemplate.set(template, names);
  return names;
}

/**
 * The record of a parameter in `approximate`. The binding sends the default instead of the value or, without a default,
 * nothing. A request for the default value needs no record.
 */
function approximated(param: string, value: unknown, byDefault: unknown): Approximation[] {
  if (value === byDefault) return [];
  const shown = (each: unknown) => (typeof each === 'number' ? each : String(Array.isArray(each) ? each.length : each));
  return [{ param, requested: shown(value), used: byDefault === undefined ? 'none' : shown(byDefault) }];
}

/** The record of a hint that is not sent. Empty if the client gave no value, or the one that the provider uses. */
export function leftToModel(param: Hint, input: ResolvedInput): Approximation[] {
  const [requested, used] = [input[param], LEFT_TO_MODEL[param]];
  return requested === undefined || requested === used ? [] : [{ param, requested, used }];
}

interface Options {
  /** The sizes of the upstream's model, if they differ from those of the model that the client named. */
  sizes?: SizeTable;
  /** Whether the upstream accepts a size. Missing: it accepts every size. */
  accepts?: ((size: Size) => boolean) | undefined;
}

/**
 * The ratio and the pixels of a request: those that it names, or those in its model's table. `auto` becomes the ratio
 * nearest to the first reference image or, without one, a square.
 * @throws UnsupportedRequest for a size that the upstream does not accept, or for a ratio or resolution that has no
 *   size
 */
export function requestedSize(request: ProviderRequest, options: Options = {}): SizeChoice {
  const { input, images } = request;
  const { aspect_ratio: ratio, resolution } = input;
  const { sizes = definitionOf(request)?.sizes ?? {}, accepts } = options;
  if (input.size !== undefined) {
    const size = parsePixels(input.size);
    if (size && accepts?.(size) !== false) return { ratio: input.size, size };
    throw new UnsupportedRequest('size', `There is no ${input.size}.`);
  }
  const choice = chooseSize(sizes, { ratio, resolution, reference: images.references[0], accepts });
  if (choice) return choice;
  const param = ratio === 'auto' || Object.hasOwn(sizes, ratio) ? 'resolution' : 'aspect_ratio';
  throw new UnsupportedRequest(param, `There is no size for ${ratio} in ${resolution}.`);
}
