import { Query, Resolver } from '@nestjs/graphql';
import { Config } from '../platform/config.ts';
import { CurrentCaller } from './access.ts';
import { ApiKeyView, toApiKeyView } from './api-keys/api-key.view.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import type { Caller } from './caller.ts';

@Resolver()
export class ViewerResolver {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly config: Config,
  ) {}

  @Query(() => ApiKeyView, { description: 'The API key that asks: its name, what it may do, its limits.' })
  async viewer(@CurrentCaller() caller: Caller): Promise<ApiKeyView> {
    return toApiKeyView(await this.apiKeys.find(caller.apiKeyId), this.config);
  }
}
