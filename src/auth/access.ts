import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Caller, Scope as ScopeName } from './caller.ts';
import { type GuardedRequest, requestOf } from './guarded-request.ts';
import type { RateBucket } from './rate-limits/rate-window.ts';

export const PUBLIC = 'auth:public';
export const SCOPE = 'auth:scope';
export const BUCKET = 'auth:rate-bucket';

/** Needs no API key. Everything else does. */
export const Public = () => SetMetadata(PUBLIC, true);

/** Needs a key with this scope. Without it any key will do. */
export const Scope = (scope: ScopeName) => SetMetadata(SCOPE, scope);

/** Counts against this limit of the key instead of `read`. */
export const CountsAs = (bucket: RateBucket) => SetMetadata(BUCKET, bucket);

/** The caller that the guard let in. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  callerOf(requestOf(context)),
);

/** For handlers that take the request as it is. @throws Error on a public route */
export function callerOf({ caller }: GuardedRequest): Caller {
  if (!caller) throw new Error('A public route has no caller: nobody has been asked who they are.');
  return caller;
}
