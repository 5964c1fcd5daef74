import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { BUCKET, COUNTED_BY_HANDLER, PUBLIC, SCOPE } from './access/access.ts';
import { assertScope } from './access/assert-scope.ts';
import { MultipartBody } from '../platform/http/multipart/multipart-body.ts';
import { Authenticator } from './credentials/authenticator.ts';
import type { RateBucket, Scope } from './access/caller.ts';
import { Credentials } from './credentials/credential.ts';
import { type GuardedRequest, replyOf, requestOf } from './access/guarded-request.ts';
import { RateLimits } from './limits/rate-limits.ts';

/** What the decorators of a handler, or of its class, require. */
interface Access {
  isPublic: boolean | ((request: GuardedRequest) => boolean);
  bucket: RateBucket | typeof COUNTED_BY_HANDLER;
  scope: Scope | undefined;
}

/**
 * One guard for REST, GraphQL and operations on a socket: authenticates the key, counts the request, checks the scope.
 * It counts a GraphQL request once per root field, so that aliases cannot bypass the rate limit.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  /** Cached per handler, because reading the metadata costs more than everything else in this guard. */
  private readonly accessByHandler = new WeakMap<object, Access>();

  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly rateLimits: RateLimits,
    private readonly credentials: Credentials,
  ) {}

  canActivate(context: ExecutionContext): Promise<boolean> | boolean {
    const access = this.accessOf(context);
    if (access.isPublic === true) return true;

    const request = requestOf(context);
    if (access.isPublic && access.isPublic(request)) return true;
    const authenticate = () => this.authenticator.authenticateCredential(this.credentials.of(request));
    return andThen(authenticate(), (caller) => {
      request.caller = caller;
      // The handler reads a form: the key may have been revoked, and its data erased, by the time it has arrived.
      if (request.body instanceof MultipartBody) request.body.checkOnArrival(authenticate);
      const counted = access.bucket === COUNTED_BY_HANDLER ? null : this.rateLimits.count(caller, access.bucket);
      return andThen(counted, (headers) => {
        const reply = headers && replyOf(context);
        if (reply) for (const name in headers) reply.header(name, headers[name]!);
        if (access.scope) assertScope(caller, access.scope);
        return true;
      });
    });
  }

  private accessOf(context: ExecutionContext): Access {
    let access = this.accessByHandler.get(context.getHandler());
    if (!access) {
      access = {
        isPublic: this.metadata<Access['isPublic']>(PUBLIC, context) ?? false,
        bucket: this.metadata<Access['bucket']>(BUCKET, context) ?? 'read',
        scope: this.metadata<Scope>(SCOPE, context),
      };
      this.accessByHandler.set(context.getHandler(), access);
    }
    return access;
  }

  private metadata<T>(key: string, context: ExecutionContext): T | undefined {
    return this.reflector.getAllAndOverride<T>(key, [context.getHandler(), context.getClass()]);
  }
}

/**
 * Stays synchronous when the value is already there. Promises here, and pipes in the handler of creations, were 10 % of a
 * create's CPU time.
 */
function andThen<Value, Result>(
  value: Promise<Value> | Value,
  step: (value: Value) => Promise<Result> | Result,
): Promise<Result> | Result {
  return value instanceof Promise ? value.then(step) : step(value);
}
