import { ApiError } from '../../errors/api-error.ts';
import { paramPath } from '../../platform/schema/param-path.ts';

/**
 * Translates a creation over GraphQL into the body of REST. GraphQL cannot name the parameters that only one model has,
 * so `extra` has these parameters.
 * @throws ApiError invalid_type, unknown_parameter
 */
export function requestOfInput({ extra, ...input }: Record<string, unknown>): Record<string, unknown> {
  if (extra === undefined) return input;
  if (typeof extra !== 'object' || extra === null || Array.isArray(extra)) {
    throw new ApiError('invalid_type', {
      param: 'extra',
      message: 'extra must be an object of parameters such as x_steps.',
    });
  }
  const other = Object.keys(extra).find((name) => !name.startsWith('x_'));
  if (other !== undefined) {
    const param = paramPath(['extra', other]);
    const message = `${param} is not allowed: extra takes only parameters whose names begin with x_.`;
    throw new ApiError('unknown_parameter', { param, message });
  }
  return { ...input, ...extra };
}
