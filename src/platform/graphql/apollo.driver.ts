import { ApolloDriver } from '@nestjs/apollo';

/**
 * Nest's driver, except that `stop` does not close the HTTP server. Apollo would close it in the first of Nest's shutdown hooks,
 * long before open sockets and event streams are closed. `platform/http/edge.ts` drains the server instead.
 */
export class LeaveServerApolloDriver extends ApolloDriver {
  override async stop(): Promise<void> {}
}
