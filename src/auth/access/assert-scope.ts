import { ApiError } from '../../errors/api-error.ts';
import type { Caller, Scope } from './caller.ts';

/** @throws ApiError insufficient_scope */
export function assertScope(caller: Caller, scope: Scope): void {
  if (!caller.scopes.includes(scope)) throw lackOf(scope);
}

export const lackOf = (scope: Scope): ApiError =>
  new ApiError('insufficient_scope', { message: `This API key lacks the scope "${scope}".` });
