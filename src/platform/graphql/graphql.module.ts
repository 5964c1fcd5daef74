import type { ApolloDriverConfig } from '@nestjs/apollo';
import { Global, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import type { FastifyInstance } from 'fastify';
import { Config } from '../config.ts';
import { LeaveServerApolloDriver } from './apollo.driver.ts';
import { graphqlOptions } from './graphql-options.ts';
import { serveGraphiql } from './graphiql.ts';
import { GraphqlSockets } from './live-sockets.ts';
import { renderErrorsOnGraphqlRoute } from './route-errors.ts';

/** GraphQL over HTTP and over sockets. A resolver is served by being a provider of its own module. */
@Global()
@Module({
  imports: [
    GraphQLModule.forRootAsync<ApolloDriverConfig>({
      driver: LeaveServerApolloDriver,
      inject: [Config],
      useFactory: graphqlOptions,
    }),
  ],
  providers: [GraphqlSockets],
  exports: [GraphqlSockets],
})
export class GraphqlModule {
  /** Here rather than in a hook: it must be done before Apollo adds its route. */
  constructor(host: HttpAdapterHost, config: Config) {
    const fastify = host.httpAdapter.getInstance<FastifyInstance>();
    renderErrorsOnGraphqlRoute(fastify, config);
    if (config.graphqlIntrospection) serveGraphiql(fastify);
  }
}
