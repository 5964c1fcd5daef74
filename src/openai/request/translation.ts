import { ApiError } from '../../errors/api-error.ts';
import type { Approximation } from '../../tasks/record/task.entity.ts';

/** An OpenAI request, translated to the body of `POST /v1/generations`. */
export interface Translation {
  body: Record<string, unknown>;
  /** The requested values that could not be expressed exactly. */
  approximations: Approximation[];
  /** The client's name of each parameter that has another name here: `reference_images[0]` may be `image[0]`. */
  spelling: Map<string, string>;
}

/**
 * Rewrites the error of a translated request. `param` and the message then name the parameter as the client wrote it.
 */
export function inClientSpelling(thrown: unknown, { spelling }: Pick<Translation, 'spelling'>): unknown {
  if (!(thrown instanceof ApiError) || thrown.param === null) return thrown;
  const param = spelling.get(thrown.param);
  if (param === undefined) return thrown;
  return new ApiError(thrown.code, {
    param,
    message: thrown.message.replaceAll(thrown.param, param),
    status: thrown.status,
    headers: thrown.headers,
    ...(thrown.retryAfterS !== undefined && { retryAfterS: thrown.retryAfterS }),
    cause: thrown.cause,
  });
}
