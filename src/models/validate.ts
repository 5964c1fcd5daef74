import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { MODELS } from './catalog.ts';
import type { Model } from './model.ts';

/**
 * Says what is wrong, changes nothing: no coercion, no defaults, no removal. `verbose` puts the schema into an error,
 * for the message. `uri` is only a note to readers of the schema; parse-generation.ts judges addresses.
 */
const ajv = new Ajv2020({
  strict: true,
  allErrors: false,
  verbose: true,
  formats: { uri: true },
});

const compiled = new Map<Model, ValidateFunction>();

/** Compiling takes milliseconds, so it happens at start, not in somebody's request. */
for (const model of MODELS) validatorOf(model);

/** @returns the first fault of a creation request for this model, or null */
export function firstFault(model: Model, body: object): ErrorObject | null {
  const validate = validatorOf(model);
  return validate(body) ? null : validate.errors![0];
}

function validatorOf(model: Model): ValidateFunction {
  let validate = compiled.get(model);
  if (!validate) compiled.set(model, (validate = ajv.compile(model.parameters)));
  return validate;
}
