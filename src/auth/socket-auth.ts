import { Injectable, type OnModuleInit } from '@nestjs/common';
import { GraphqlSockets } from '../platform/graphql/graphql-sockets.ts';
import { KeyWatch } from './live-keys.ts';

/** Who may come in by a socket: whoever may call by HTTP. */
@Injectable()
export class SocketAuth implements OnModuleInit {
  constructor(
    private readonly sockets: GraphqlSockets,
    private readonly keys: KeyWatch,
  ) {}

  onModuleInit(): void {
    this.sockets.guardedBy(async (authorization, refused) => {
      const { apiKeyId, release } = await this.keys.admit(authorization, refused);
      return { owner: apiKeyId, release };
    });
  }
}
