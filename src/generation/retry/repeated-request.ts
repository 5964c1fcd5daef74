import { ApiError } from '../../errors/api-error.ts';
import type { Model } from '../../models/definition/model.ts';
import { isAllowed, isModelParameter } from '../../models/definition/parameters.ts';
import { canonicalJson } from '../../platform/schema/canonical-json.ts';

type Fields = Record<string, unknown>;

/** The request of a new task that is made from the input of an earlier one. */
export interface RepeatedRequest {
  /** Parameters of the model, not yet validated. */
  parameters: Fields;
  /** Whether a parameter differs from that of the earlier task. */
  isChanged: boolean;
}

/**
 * @param first the resolved input of the earlier task
 * @param changes new values by the name of the parameter; null removes a parameter
 * @throws ApiError unknown_parameter if `changes` has a field of the request that is no parameter of a model
 */
export function repeatRequest(model: Model, first: Fields, changes: Fields): RepeatedRequest {
  const { properties } = model.parameters;
  for (const name of Object.keys(changes)) {
    if (isModelParameter(name)) continue;
    const message = `input.${name} cannot be changed: input takes the parameters of ${model.id}.`;
    throw new ApiError('unknown_parameter', { param: `input.${name}`, message });
  }
  const given = Object.entries(changes).filter(([, value]) => value !== null);
  const kept = Object.entries(first).filter(([name]) => !Object.hasOwn(changes, name));
  const parameters = Object.fromEntries([...kept, ...given]);
  for (const [name, value] of kept) {
    // Drops a default of the first task that a change makes meaningless, such as output_compression if the file is now
    // a PNG.
    const isDefault = value === properties[name]?.default;
    if (isDefault && !isAllowed(name, model.parameters, parameters)) delete parameters[name];
  }
  return { parameters, isChanged: Object.keys(changes).some((name) => differs(model, first, changes, name)) };
}

function differs(model: Model, first: Fields, changes: Fields, name: string): boolean {
  const wanted = changes[name] ?? model.parameters.properties[name]?.default ?? null;
  return canonicalJson(wanted) !== canonicalJson(first[name] ?? null);
}
