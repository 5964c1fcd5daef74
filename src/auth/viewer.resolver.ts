import { Query, Resolver } from '@nestjs/graphql';
import { CurrentCaller } from './access.ts';
import { ApiKeyView } from './api-keys/api-key.view.ts';
import { ApiKeyViews } from './api-keys/api-key-views.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import type { Caller } from './caller.ts';

@Resolver()
export class ViewerResolver {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly views: ApiKeyViews,
  ) {}

  @Query(() => ApiKeyView, { description: 'The API key that sends this request: its name, scopes and limits.' })
  async viewer(@CurrentCaller() caller: Caller): Promise<ApiKeyView> {
    return this.views.of(await this.apiKeys.find(caller.apiKeyId));
  }
}
