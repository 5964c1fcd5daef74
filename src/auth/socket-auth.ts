import { Injectable, type OnModuleInit } from '@nestjs/common';
import { GraphqlSockets } from '../platform/graphql/graphql-sockets.ts';
import { Authenticator } from './credentials/authenticator.ts';
import { Credentials } from './credentials/credential.ts';
import { KeyWatch } from './credentials/key-watch.ts';
import { DocumentRates } from './limits/document-rates.ts';

/**
 * Authenticates GraphQL sockets with the same keys and sessions as HTTP. A socket does not know which scopes its
 * operations use, so it is closed when its key loses any scope. The client connects again with the remaining scopes.
 */
@Injectable()
export class SocketAuth implements OnModuleInit {
  constructor(
    private readonly sockets: GraphqlSockets,
    private readonly keys: KeyWatch,
    private readonly credentials: Credentials,
    private readonly authenticator: Authenticator,
    private readonly documents: DocumentRates,
  ) {}

  onModuleInit(): void {
    this.sockets.guardedBy({
      assertMayOpen: (headers) => this.credentials.assertMayOpenSocket(headers),
      admit: async (headers, onRefused) => {
        const credential = this.credentials.of({ headers, overSocket: true });
        const { apiKeyId, release } = await this.keys.admit(credential, onRefused);
        return { owner: apiKeyId, release };
      },
      admitDocument: async (request, text) => {
        const caller = await this.authenticator.authenticateCredential(this.credentials.of(request));
        await this.documents.admit(request, caller, text);
      },
    });
  }
}
