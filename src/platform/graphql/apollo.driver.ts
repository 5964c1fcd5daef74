import { ApolloServer } from '@apollo/server';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import type { FastifyInstance } from 'fastify';
import { resetCaches } from 'graphql-tag';
import { answerWith } from './apollo-route.ts';

/**
 * Nest's driver, except that its route is our own, and that `stop` does not close the HTTP server. Apollo would close it in
 * the first of Nest's shutdown hooks, long before open sockets and event streams are closed. `platform/http/edge.ts` drains
 * the server instead.
 */
export class LeaveServerApolloDriver extends ApolloDriver {
  override async stop(): Promise<void> {}

  protected override async registerFastify(options: ApolloDriverConfig): Promise<void> {
    const { path, schema } = options;
    const server = new ApolloServer({ ...options, schema: schema!, typeDefs: undefined, resolvers: undefined });
    await server.start();
    this.httpAdapterHost.httpAdapter.getInstance<FastifyInstance>().route({
      url: path!,
      method: ['GET', 'POST', 'OPTIONS'],
      handler: answerWith(server),
    });
    this.apolloServer = server;
    resetCaches(); // Nest has parsed the whole schema with it: 2.6 MB
  }
}
