import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Credentials } from '../../auth/credentials/credential.ts';
import { GraphqlStreams } from '../../platform/graphql/graphql-streams.ts';
import { OpenStreams } from './open-streams.ts';
import { sendStream } from './send-stream.ts';

/**
 * Sends the event streams of GraphQL, which count towards the same limits as the event streams of REST. A stream of
 * GraphQL is closed when its key loses any scope, as a WebSocket is.
 */
@Injectable()
export class GraphqlEvents implements OnModuleInit {
  constructor(
    private readonly graphql: GraphqlStreams,
    private readonly streams: OpenStreams,
    private readonly credentials: Credentials,
  ) {}

  onModuleInit(): void {
    this.graphql.sentBy(async (request, reply, open) => {
      const queue = await this.streams.track(this.credentials.of(request), open, 'any');
      return sendStream(reply, queue, (event) => event);
    });
  }
}
