import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { Config } from '../platform/config.ts';
import { hasBody } from '../platform/http/has-body.ts';
import { bodyConfigOf } from '../platform/http/multipart/accepts-body.ts';
import { isWellFormed } from './api-keys/api-key-format.ts';
import { bearerTokenOf } from './bearer-token.ts';

/** Every route with a body below it needs a key. `/graphql` also answers without one: the schema is public. */
const GUARDED = '/v1/';

/**
 * Rejects a request without a well-formed key before its body is received and parsed. The guard does the same and looks the
 * key up, but runs after the parsing, so that anyone could have 1 MiB of JSON parsed.
 */
@Injectable()
export class KeyBeforeBody {
  /** In the constructor, because lifecycle hooks run after routes were added. */
  constructor(host: HttpAdapterHost, { role }: Config) {
    if (role === 'worker') return; // it has no such routes: every path is 404
    host.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, _reply, done) => {
      if (!request.url.startsWith(GUARDED) || !hasBody(request.raw.headers)) return done();
      if (bodyConfigOf(request).signedFile) return done(); // its handler checks the signature before it reads
      try {
        if (!isWellFormed(bearerTokenOf(request.headers.authorization))) throw new ApiError('invalid_api_key');
      } catch (error) {
        return done(error as Error);
      }
      done();
    });
  }
}
