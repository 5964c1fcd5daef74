import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { GRAPHQL_PATH } from '../platform/graphql/graphql-sockets.ts';
import type { Caller } from './access/caller.ts';
import { Authenticator } from './credentials/authenticator.ts';
import { Credentials } from './credentials/credential.ts';
import { DocumentRates } from './limits/document-rates.ts';
import { KeylessRate } from './limits/keyless-rate.ts';

/**
 * Counts the requests that the guard does not see: the guard runs only for resolvers. A document without a valid key is
 * parsed and checked all the same, so it counts by address before its body is read. A document with a valid key counts
 * by key if no resolver answers it.
 */
@Injectable()
export class GraphqlRates {
  private readonly callers = new WeakMap<FastifyRequest, Caller>();

  /**
   * Adds the hook in the constructor, because `onRoute` sees only routes that are added later. Lifecycle hooks run
   * after the routes were added.
   */
  constructor(
    host: HttpAdapterHost,
    private readonly credentials: Credentials,
    private readonly authenticator: Authenticator,
    private readonly keyless: KeylessRate,
    private readonly documents: DocumentRates,
  ) {
    host.httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      if (route.url !== GRAPHQL_PATH) return;
      route.onRequest = [route.onRequest ?? [], (request: FastifyRequest) => this.admit(request)].flat();
      route.preHandler = [route.preHandler ?? [], (request: FastifyRequest) => this.admitDocument(request)].flat();
    });
  }

  private async admit(request: FastifyRequest): Promise<void> {
    try {
      this.callers.set(request, await this.authenticator.authenticateCredential(this.credentials.of(request)));
    } catch (error) {
      // Without the database no key can be checked. The resolvers report that error.
      if (error instanceof ApiError && error.status < 500) this.keyless.count(request.ip);
    }
  }

  private async admitDocument(request: FastifyRequest): Promise<void> {
    const caller = this.callers.get(request);
    if (caller) await this.documents.admit(request, caller, textOf(request));
  }
}

function textOf({ body, query }: FastifyRequest): string {
  const { query: text } = (body ?? query) as { query?: unknown };
  return typeof text === 'string' ? text : '';
}
