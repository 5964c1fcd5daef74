import { Injectable, type OnModuleInit } from '@nestjs/common';
import { GraphqlSockets } from '../platform/graphql/graphql-sockets.ts';
import { KeyWatch } from './key-watch.ts';

/** Authenticates GraphQL sockets with the same keys as HTTP. */
@Injectable()
export class SocketAuth implements OnModuleInit {
  constructor(
    private readonly sockets: GraphqlSockets,
    private readonly keys: KeyWatch,
  ) {}

  onModuleInit(): void {
    this.sockets.guardedBy(async (authorization, onRefused) => {
      const { apiKeyId, release } = await this.keys.admit(authorization, onRefused);
      return { owner: apiKeyId, release };
    });
  }
}
