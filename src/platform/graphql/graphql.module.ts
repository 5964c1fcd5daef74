import type { ApolloDriverConfig } from '@nestjs/apollo';
import { Global, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import type { FastifyInstance } from 'fastify';
import { Config } from '../config.ts';
import { LeaveServerApolloDriver } from './apollo.driver.ts';
import { graphqlOptions } from './graphql-options.ts';
import { serveGraphiql } from './graphiql.ts';
import { GraphqlSockets } from './graphql-sockets.ts';
import { renderErrorsOnGraphqlRoute } from './route-errors.ts';

/** GraphQL over HTTP and WebSockets. Nest finds a resolver when its own module lists it as a provider. */
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
  /** In the constructor, because lifecycle hooks run after Apollo has added its route. */
  constructor(host: HttpAdapterHost, config: Config) {
    const fastify = host.httpAdapter.getInstance<FastifyInstance>();
    renderErrorsOnGraphqlRoute(fastify, config);
    if (config.graphqlIntrospection) serveGraphiql(fastify);
  }
}
