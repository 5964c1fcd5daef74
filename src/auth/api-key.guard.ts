import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError } from '../errors/api-error.ts';
import { BUCKET, PUBLIC, SCOPE } from './access.ts';
import { Authenticator } from './authenticator.ts';
import type { Caller, Scope } from './caller.ts';
import { replyOf, requestOf } from './guarded-request.ts';
import { RateLimits } from './rate-limits/rate-limits.ts';
import type { RateBucket } from './rate-limits/rate-window.ts';

/** What the decorators of a handler, or of its class, ask for. */
interface Access {
  isPublic: boolean;
  bucket: RateBucket;
  scope: Scope | undefined;
}

/**
 * One guard for REST, for GraphQL and for operations on a socket: asks for a key, counts the request, checks the scope.
 * A GraphQL request is counted once for each field of its root, so that aliases do not get round the limit.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  /** By handler: looking metadata up costs more than all else here. */
  readonly #known = new WeakMap<object, Access>();

  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly rateLimits: RateLimits,
  ) {}

  canActivate(context: ExecutionContext): Promise<boolean> | boolean {
    const access = this.#accessOf(context);
    if (access.isPublic) return true;

    const request = requestOf(context);
    return andThen(this.authenticator.authenticateHeader(request.headers.authorization), (caller) => {
      request.caller = caller;
      return andThen(this.rateLimits.count(caller, access.bucket), (headers) => {
        const reply = headers && replyOf(context);
        if (reply) for (const name in headers) reply.header(name, headers[name]!);
        if (access.scope) assertScope(caller, access.scope);
        return true;
      });
    });
  }

  #accessOf(context: ExecutionContext): Access {
    let access = this.#known.get(context.getHandler());
    if (!access) {
      access = {
        isPublic: this.#told<boolean>(PUBLIC, context) ?? false,
        bucket: this.#told<RateBucket>(BUCKET, context) ?? 'read',
        scope: this.#told<Scope>(SCOPE, context),
      };
      this.#known.set(context.getHandler(), access);
    }
    return access;
  }

  #told<T>(metadata: string, context: ExecutionContext): T | undefined {
    return this.reflector.getAllAndOverride<T>(metadata, [context.getHandler(), context.getClass()]);
  }
}

/** At once where nobody has to be asked: promises here, and pipes in the handler of creations, were a tenth of their work in Node. */
function andThen<Value, Result>(
  value: Promise<Value> | Value,
  step: (value: Value) => Promise<Result> | Result,
): Promise<Result> | Result {
  return value instanceof Promise ? value.then(step) : step(value);
}

/** @throws ApiError insufficient_scope, naming the scope that is missing */
function assertScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  throw new ApiError('insufficient_scope', { message: `This API key lacks the scope "${scope}".` });
}
