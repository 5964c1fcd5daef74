import { ApolloDriver } from '@nestjs/apollo';

/**
 * Nest's driver, except that stopping it leaves the HTTP server alone: Apollo would close it at the first of Nest's
 * shutdown hooks, long before live sockets and event streams have been told. The server drains by its own edge.
 */
export class LeaveServerApolloDriver extends ApolloDriver {
  override async stop(): Promise<void> {}
}
