import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LiveSockets } from '../platform/graphql/live-sockets.ts';
import { LiveKeys } from './live-keys.ts';

/** Who may come in by a socket: whoever may call by HTTP. */
@Injectable()
export class SocketDoor implements OnModuleInit {
  constructor(
    private readonly sockets: LiveSockets,
    private readonly keys: LiveKeys,
  ) {}

  onModuleInit(): void {
    this.sockets.guardedBy(async (authorization, refused) => {
      const { apiKeyId, release } = await this.keys.admit(authorization, refused);
      return { owner: apiKeyId, release };
    });
  }
}
