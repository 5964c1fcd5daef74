import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import {
  assertScope,
  BUCKET,
  COUNTED_BY_HANDLER,
  type GuardedRequest,
  PUBLIC,
  replyOf,
  isGraphql,
  requestOf,
  SCOPE,
  shareOwner,
} from './access/access.ts';
import { MultipartBody } from '../platform/http/multipart/multipart-body.ts';
import { Authenticator } from './credentials/authenticator.ts';
import type { RateBucket, Scope } from './access/caller.ts';
import { bearerTokenOf, type Credential, Credentials, SessionToken } from './credentials/credential.ts';
import { addressGroup } from '../platform/http/address-group.ts';
import { DocumentRates } from './limits/document-rates.ts';
import { RateLimits } from './limits/rate-limits.ts';
import { ApiError } from '../errors/api-error.ts';
import { Config } from '../platform/config/config.ts';
import { currentRequest } from '../platform/observe/logging/request-context.ts';
import { hasBody, routeOf } from '../platform/http/request.ts';
import { bodyConfigOf } from '../platform/http/multipart/accepts-body.ts';
import { isWellFormed } from './credentials/api-key-format.ts';
import { isToken } from './credentials/random-token.ts';

/** What the decorators of a handler, or of its class, require. */
interface Access {
  isPublic: boolean | ((request: GuardedRequest) => boolean);
  bucket: RateBucket | typeof COUNTED_BY_HANDLER;
  scope: Scope | undefined;
}

/**
 * One guard for REST, GraphQL and operations on a socket: authenticates the key or session, counts the request, checks
 * the scope. It counts a GraphQL request once per root field, so that aliases cannot bypass the rate limit.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  /** One entry for each handler: reading the metadata costs more than everything else in this guard. */
  private readonly accessByHandler = new WeakMap<object, Access>();

  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly rateLimits: RateLimits,
    private readonly credentials: Credentials,
    private readonly documents: DocumentRates,
  ) {}

  canActivate(context: ExecutionContext): Promise<boolean> | boolean {
    const access = this.accessOf(context);
    const request = requestOf(context);
    const served = currentRequest.getStore();
    if (access.isPublic === true || (access.isPublic && access.isPublic(request))) {
      if (served && request.ip) served.shareOf = `address ${addressGroup(request.ip)}`;
      return true;
    }
    const authenticate = () => this.authenticator.authenticateCredential(this.credentials.of(request));
    return andThen(authenticate(), (caller) => {
      request.caller = caller;
      if (served) served.shareOf = shareOwner(caller);
      if (isGraphql(context)) this.documents.answered(request);
      // The form arrives only when the handler reads it. Until then the key may be revoked and its data erased, so the
      // key is checked again on arrival.
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
 * Calls `step` at once when the value is no promise. Promises here, together with Nest's pipes in the handler of
 * creations, took 10 % of the CPU time of a creation.
 */
function andThen<Value, Result>(
  value: Promise<Value> | Value,
  step: (value: Value) => Promise<Result> | Result,
): Promise<Result> | Result {
  return value instanceof Promise ? value.then(step) : step(value);
}

/**
 * Below this path, a route with a body needs a key or a session, unless the route's configuration says `signedFile` or
 * `withoutKey`. `/graphql` also answers without a key: the schema is public.
 */
const GUARDED = '/v1/';

/**
 * Rejects a request that has a body but no well-formed key or session, before the body is received and parsed. The
 * guard, which also looks the key up, runs after the parsing: without this hook anyone could have 1 MiB of JSON parsed.
 */
@Injectable()
export class KeyBeforeBody {
  /** Adds the hook in the constructor, because lifecycle hooks run after the routes were added. */
  constructor(host: HttpAdapterHost, { role }: Config, credentials: Credentials) {
    if (role === 'worker') return; // a worker process has no such routes: every path is 404
    host.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, _reply, done) => {
      const { signedFile, withoutKey } = bodyConfigOf(request); // for a signed upload, the handler checks the link
      if (!hasBody(request.raw.headers) || signedFile || withoutKey) return done();
      try {
        const credential = credentials.of(request); // also throws for a page of another origin, even at /graphql
        // One path has many spellings, so the route is compared: `/%76%31/files` leads to `/v1/files` too.
        if (routeOf(request).url?.startsWith(GUARDED)) assertWellFormed(credential);
      } catch (error) {
        return done(error as Error);
      }
      done();
    });
  }
}

/** @throws ApiError missing_api_key, invalid_api_key, session_expired */
function assertWellFormed(credential: Credential): void {
  if (credential instanceof SessionToken) {
    if (!isToken(credential.token)) throw new ApiError('session_expired');
  } else if (!isWellFormed(bearerTokenOf(credential))) throw new ApiError('invalid_api_key');
}
