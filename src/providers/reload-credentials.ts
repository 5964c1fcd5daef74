import { Injectable, type OnModuleInit } from '@nestjs/common';
import { catalog } from '../models/catalog.ts';
import { Reloads } from '../platform/config/reloads.ts';
import { ProviderRegistry } from './registry.ts';
import { redactAlso } from './wire/operator-cause.ts';

/** Everything but printable ASCII. A credential with such a character, a line break for example, is a mistake. */
const NOT_IN_HEADERS = /[^\x20-\x7e]/;

/** Uses a new credential once it is in its file and the process gets a SIGHUP. */
@Injectable()
export class ReloadCredentials implements OnModuleInit {
  constructor(
    private readonly registry: ProviderRegistry,
    private readonly reloads: Reloads,
  ) {}

  onModuleInit(): void {
    for (const model of catalog.models) this.registry.bindingsOf(model);
    this.registry.watchCredentials((credential) => {
      this.reloads.register(credential, this.registry.keyOf(credential)!, (apiKey) => {
        if (NOT_IN_HEADERS.test(apiKey)) throw new Error(`${credential} must be one line of ASCII characters`);
        redactAlso(this.registry.keyOf(credential)!); // the answer to a call that is in flight may repeat the old key
        this.registry.replaceKey(credential, apiKey);
      });
    });
  }
}
