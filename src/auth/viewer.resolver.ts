import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { Config } from '../platform/config/config.ts';
import { CurrentCaller } from './access/access.ts';
import { ApiKeyView } from './api-keys/api-key.view.ts';
import { ApiKeyViews } from './api-keys/api-key-views.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import type { Caller } from './access/caller.ts';

@Resolver(() => ApiKeyView)
export class ViewerResolver {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly views: ApiKeyViews,
    private readonly config: Config,
  ) {}

  @Query(() => ApiKeyView, { description: 'The API key that sends this request: its name, scopes and limits.' })
  async viewer(@CurrentCaller() caller: Caller): Promise<ApiKeyView> {
    return this.views.of(await this.apiKeys.find(caller.apiKeyId));
  }

  @ResolveField(() => String, {
    description:
      'Address of the deployment that has this key, such as https://darkroom.example.com. Clients need it where they cannot ' +
      'be routed by the key, such as for a WebSocket without an Authorization header.',
  })
  endpoint(): string {
    return this.config.publicUrl;
  }
}
