import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { ApiError } from '../../errors/api-error.ts';
import { paramPath } from '../../platform/schema/param-path.ts';
import type { ArgumentSchema } from './model-arguments.ts';
import type { ToolInput } from './tool-arguments.ts';

const OPTIONS = { strict: true, allErrors: false, verbose: true, meta: false, validateSchema: false } as const;
const validators = new WeakMap<ToolInput, ValidateFunction>();

/**
 * Checks the arguments of a tool against its schema. Use this for arguments that no service checks.
 * @throws ApiError for the first fault, with what is allowed, so that an agent can correct itself
 */
export function checkArguments(input: ToolInput, given: object): void {
  let validate = validators.get(input);
  // One Ajv instance per schema: an instance keeps all that it has compiled, and the schemas change with the models.
  if (!validate) validators.set(input, (validate = new Ajv2020(OPTIONS).compile(input)));
  if (!validate(given)) throw toApiError(validate.errors![0]!, input);
}

function toApiError({ keyword, instancePath, params, parentSchema }: ErrorObject, input: ToolInput): ApiError {
  const schema = parentSchema as ArgumentSchema;
  const param = paramPath(instancePath.split('/').slice(1));
  const { missingProperty, additionalProperty } = params as Record<string, string>;
  switch (keyword) {
    case 'required':
      return fault('missing_required_parameter', missingProperty!, 'is required.');
    case 'additionalProperties': {
      const known = Object.keys(input.properties);
      const allowed = known.length > 0 ? ` It takes ${known.join(', ')}.` : ' It takes none.';
      return fault('unknown_parameter', paramPath([additionalProperty!]), `is no argument of this tool.${allowed}`);
    }
    case 'type':
      return fault('invalid_type', param, `must be of the type ${schema.type}.`);
    case 'enum':
      return fault('invalid_value', param, `must be one of ${schema.enum!.join(', ')}.`);
    case 'minimum':
    case 'maximum':
      return fault('value_out_of_range', param, `must be from ${schema.minimum} to ${schema.maximum}.`);
    default:
      return fault('invalid_value', param, 'is not allowed.');
  }
}

const fault = (code: ConstructorParameters<typeof ApiError>[0], param: string, what: string): ApiError =>
  new ApiError(code, { param, status: 400, message: `${param} ${what}` });
