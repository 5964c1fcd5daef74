import { fillTemplate, type SlotValue } from '../templates/template.ts';
import { requestedSize } from './prepare-request.ts';
import { type ProviderRequest, UnsupportedRequest } from './provider.ts';
import { seedOf } from './seed.ts';

/**
 * @returns a function that gives the value of each slot in a binding's templates, except images. It throws
 * UnsupportedRequest for a value that the binding does not map.
 */
export function slotValues(request: ProviderRequest, index = 0): SlotValue {
  const { input, upstream, taskId } = request;
  const given = input as unknown as Record<string, unknown>;
  const size = () => requestedSize(request).size;
  const facts: Record<string, () => unknown> = {
    width: () => size().width,
    height: () => size().height,
    size: () => `${size().width}x${size().height}`,
    seed: () => input.seed ?? seedOf(taskId) + index, // `partOf` has already raised the client's seed for this call
    n: () => input.n ?? 1,
    model: () => upstream.model,
    task_id: () => taskId,
    index: () => index,
  };
  return ({ name }) => {
    const value = Object.hasOwn(facts, name) ? facts[name]!() : given[name];
    return mapped(request, name, value);
  };
}

/**
 * The value after the binding's `map`. A parameter that `map` does not name keeps its value.
 * @throws UnsupportedRequest when `map` names the parameter but not this value
 */
function mapped({ upstream }: ProviderRequest, name: string, value: unknown): unknown {
  const words = upstream.declared?.map?.[name];
  if (!words || value === undefined) return value;
  if (Object.hasOwn(words, String(value))) return words[String(value)];
  throw new UnsupportedRequest(name, `The binding has no word for this value of ${name}.`);
}

/**
 * The fields of `send`, which a binding sends besides those of its dialect.
 * @param index of the first output of the call
 * @throws UnsupportedRequest
 */
export function extraFields(request: ProviderRequest, index = 0): Record<string, unknown> {
  const { send } = request.upstream.declared ?? {};
  return send ? ((fillTemplate(send, slotValues(request, index)) ?? {}) as Record<string, unknown>) : {};
}
