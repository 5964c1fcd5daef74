import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { SCOPE_KEY } from '../../platform/openapi/faults.ts';
import type { Caller, RateBucket, Scope } from './caller.ts';
import { ApiError } from '../../errors/api-error.ts';

export const PUBLIC = 'auth:public';
export const SCOPE = 'auth:scope';
export const BUCKET = 'auth:rate-bucket';
export const COUNTED_BY_HANDLER = 'none';

/** The route needs no API key. Without this decorator or `PublicWhen`, a route needs a key or a session. */
export const Public = () => SetMetadata(PUBLIC, true);

/**
 * The route needs no API key for a request that `permits` accepts, such as one with a signed URL. The handler then
 * checks the permission itself.
 */
export const PublicWhen = (permits: (request: GuardedRequest) => boolean) => SetMetadata(PUBLIC, permits);

/** The route needs a key with this scope. Without the decorator any key is accepted. */
export const RequireScope = (scope: Scope) =>
  applyDecorators(SetMetadata(SCOPE, scope), ApiExtension(SCOPE_KEY, scope));

/** The request counts against this rate limit of the key instead of `read`. */
export const CountsAs = (bucket: RateBucket) => SetMetadata(BUCKET, bucket);

/** The guard does not count the request. The handler counts instead, because one request may contain several calls. */
export const CountsItself = () => SetMetadata(BUCKET, COUNTED_BY_HANDLER);

/** Injects the caller that the guard authenticated. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  callerOf(requestOf(context)),
);

/**
 * The caller that the guard has stored in a request.
 * @throws Error when the guard authenticated nobody, as on a public route
 */
export function callerOf({ caller }: GuardedRequest): Caller {
  if (!caller) throw new Error('A public route has no caller, because the guard authenticates nothing there.');
  return caller;
}

/**
 * The API key whose share of connections and turns a caller uses: the topmost key above it that has limits of its own,
 * otherwise its own key. So a key with limits cannot get more by making keys.
 */
export const shareOwner = ({ apiKeyId, bounds }: Caller): string => bounds?.at(-1)?.apiKeyId ?? apiKeyId;

/** @throws ApiError insufficient_scope */
export function assertScope(caller: Caller, scope: Scope): void {
  if (!caller.scopes.includes(scope)) throw lackOf(scope);
}

export const lackOf = (scope: Scope): ApiError =>
  new ApiError('insufficient_scope', { message: `This API key lacks the scope "${scope}".` });

/**
 * The fields of a request that the guard reads. Over HTTP it is Fastify's request. A GraphQL socket passes an object
 * with the same fields.
 */
export interface GuardedRequest {
  /**
   * Over a socket: the headers of the handshake. `authorization` in `connection_init` takes precedence over this
   * header.
   */
  headers: {
    authorization?: string | undefined;
    cookie?: string | undefined;
    origin?: string | undefined;
    host?: string | undefined;
    'user-agent'?: string | undefined;
  };
  /** Missing over a socket, like `routeOptions`. */
  method?: string;
  routeOptions?: { url?: string | undefined };
  overSocket?: true;
  /** Missing over a socket. */
  body?: unknown;
  caller?: Caller;
  /** The address of the client. Missing over a socket. */
  ip?: string;
  /** The id of the request. Over a socket: the id of the handshake. */
  id?: string;
}

interface GuardedReply {
  header(name: string, value: string): unknown;
}

/**
 * What a GraphQL context must contain. Over a socket there is no reply.
 */
interface GuardedContext {
  request: GuardedRequest;
  reply?: GuardedReply;
}

export function requestOf(context: ExecutionContext): GuardedRequest {
  return isGraphql(context) ? graphqlContext(context).request : context.switchToHttp().getRequest<GuardedRequest>();
}

export function replyOf(context: ExecutionContext): GuardedReply | undefined {
  return isGraphql(context) ? graphqlContext(context).reply : context.switchToHttp().getResponse<GuardedReply>();
}

export function isGraphql(context: ExecutionContext): boolean {
  return context.getType<string>() === 'graphql';
}

/** GraphQL passes the context as the third argument of every resolver. */
function graphqlContext(context: ExecutionContext): GuardedContext {
  return context.getArgByIndex<GuardedContext>(2);
}
