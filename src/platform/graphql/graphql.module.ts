import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Global, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import type { FastifyInstance } from 'fastify';
import { Config } from '../config/config.ts';
import { graphqlOptions } from './graphql-options.ts';
import { serveGraphiql } from './graphiql.ts';
import { GraphqlStreams } from './graphql-streams.ts';
import { GraphqlSockets } from './graphql-sockets.ts';
import { renderErrorsOnGraphqlRoute } from './route-errors.ts';

/**
 * Nest's driver, except that `stop` does not close the HTTP server. Apollo would close the server in the first of
 * Nest's shutdown hooks, long before open sockets and event streams are closed. `platform/http/edge.ts` drains the
 * server instead.
 */
class LeaveServerApolloDriver extends ApolloDriver {
  override async stop(): Promise<void> {}
}

/**
 * GraphQL over HTTP, WebSockets and event streams. It lists no resolvers: each resolver is a provider of the module of
 * its feature, where Nest finds it.
 */
@Global()
@Module({
  imports: [
    GraphQLModule.forRootAsync<ApolloDriverConfig>({
      driver: LeaveServerApolloDriver,
      inject: [Config],
      useFactory: graphqlOptions,
    }),
  ],
  providers: [GraphqlSockets, GraphqlStreams],
  exports: [GraphqlSockets, GraphqlStreams],
})
export class GraphqlModule {
  /** The hooks are added in the constructor, because lifecycle hooks run after Apollo has added its route. */
  constructor(host: HttpAdapterHost, config: Config) {
    const fastify = host.httpAdapter.getInstance<FastifyInstance>();
    renderErrorsOnGraphqlRoute(fastify, config);
    if (config.graphqlIntrospection) serveGraphiql(fastify);
  }
}
