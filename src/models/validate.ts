import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { MODELS } from './catalog.ts';
import type { Model } from './definition/model.ts';

/**
 * Validates without changing the input: no coercion, no defaults, no removal. `verbose` adds the schema to an error, for the
 * message. `image` only marks fields; the creation checks what they name.
 */
const ajv = new Ajv2020({
  strict: true,
  allErrors: false,
  verbose: true,
  formats: { image: true },
  // Compiling the schema of schemas took 80 ms of each start. A test checks the schemas of the models with it.
  meta: false,
  validateSchema: false,
});

const validators = new Map<Model, ValidateFunction>();

/** Compiling takes milliseconds, so it happens at startup and not in a request. */
for (const model of MODELS) validatorOf(model);

/** @returns the first error in a creation request for this model, or null */
export function firstFault(model: Model, body: object): ErrorObject | null {
  const validate = validatorOf(model);
  return validate(body) ? null : validate.errors![0];
}

function validatorOf(model: Model): ValidateFunction {
  let validate = validators.get(model);
  if (!validate) validators.set(model, (validate = ajv.compile(model.parameters)));
  return validate;
}
