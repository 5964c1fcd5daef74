import { Injectable, type OnModuleInit } from '@nestjs/common';
import { catalog } from '../models/catalog.ts';
import { Reloads } from '../platform/config/reloads.ts';
import { ProviderRegistry } from './registry.ts';
import { redactAlso } from './wire/operator-cause.ts';

/** Every call with such a credential would fail. */
const NOT_IN_HEADERS = /[^\x20-\x7e]/;

/**
 * Calls use a new credential once it is in its file; runs that poll a job go on with it too, because the old one may
 * end.
 */
@Injectable()
export class ReloadCredentials implements OnModuleInit {
  constructor(
    private readonly registry: ProviderRegistry,
    private readonly reloads: Reloads,
  ) {}

  onModuleInit(): void {
    const bindings = catalog.models.flatMap((model) => this.registry.bindingsOf(model));
    for (const { credential, upstream } of bindings) {
      if (credential === null || upstream.apiKey === null) continue;
      this.reloads.register(credential, upstream.apiKey, (apiKey) => {
        if (NOT_IN_HEADERS.test(apiKey)) throw new Error(`${credential} must be one line of ASCII characters`);
        redactAlso(upstream.apiKey!); // the answer to a call that is in flight may repeat it
        upstream.apiKey = apiKey;
      });
    }
  }
}
