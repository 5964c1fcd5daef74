import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { Config } from '../platform/config/config.ts';
import { hasBody } from '../platform/http/has-body.ts';
import { bodyConfigOf } from '../platform/http/multipart/accepts-body.ts';
import { isWellFormed } from './credentials/api-key-format.ts';
import { bearerTokenOf } from './credentials/bearer-token.ts';
import { type Credential, Credentials, SessionToken } from './credentials/credential.ts';
import { isToken } from './credentials/random-token.ts';
import { routeOf } from '../platform/http/route-of.ts';

/** Every route with a body below it needs a key or a session. `/graphql` also answers without one: the schema is public. */
const GUARDED = '/v1/';

/**
 * Rejects a request without a well-formed key or session before its body is received and parsed. The guard does the same and
 * looks it up, but runs after the parsing, so that anyone could have 1 MiB of JSON parsed.
 */
@Injectable()
export class KeyBeforeBody {
  /** In the constructor, because lifecycle hooks run after routes were added. */
  constructor(host: HttpAdapterHost, { role }: Config, credentials: Credentials) {
    if (role === 'worker') return; // it has no such routes: every path is 404
    host.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, _reply, done) => {
      const { signedFile, withoutKey } = bodyConfigOf(request); // the handler of a signed file checks before it reads
      if (!hasBody(request.raw.headers) || signedFile || withoutKey) return done();
      try {
        const credential = credentials.of(request); // a page of another origin is refused here also at /graphql
        // The route, because one path has many spellings: `/%76%31/files` leads to `/v1/files` too.
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
