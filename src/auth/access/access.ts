import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { SCOPE_KEY } from '../../platform/openapi/faults.ts';
import type { Caller, RateBucket, Scope as ScopeName } from './caller.ts';
import { type GuardedRequest, requestOf } from './guarded-request.ts';

export const PUBLIC = 'auth:public';
export const SCOPE = 'auth:scope';
export const BUCKET = 'auth:rate-bucket';
export const COUNTED_BY_HANDLER = 'none';

/** The route needs no API key. Every other route needs one. */
export const Public = () => SetMetadata(PUBLIC, true);

/** The route needs no API key for the requests that `permits` accepts, because the handler checks another permission. */
export const PublicWhen = (permits: (request: GuardedRequest) => boolean) => SetMetadata(PUBLIC, permits);

/** The route needs a key with this scope. Without the decorator any key is accepted. */
export const Scope = (scope: ScopeName) => applyDecorators(SetMetadata(SCOPE, scope), ApiExtension(SCOPE_KEY, scope));

/** The request counts against this rate limit of the key instead of `read`. */
export const CountsAs = (bucket: RateBucket) => SetMetadata(BUCKET, bucket);

/** The guard counts nothing: the handler counts each act in the request by itself. */
export const CountsItself = () => SetMetadata(BUCKET, COUNTED_BY_HANDLER);

/** Injects the caller that the guard authenticated. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  callerOf(requestOf(context)),
);

/** For handlers that take the raw request. @throws Error on a public route */
export function callerOf({ caller }: GuardedRequest): Caller {
  if (!caller) throw new Error('A public route has no caller, because the guard authenticates nothing there.');
  return caller;
}
