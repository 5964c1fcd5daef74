import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { toList } from '../../platform/schema/list-of.ts';
import type { ApiKey } from './api-key.entity.ts';
import { type ApiKeyListView, type ApiKeyView, toApiKeyView } from './api-key.view.ts';
import type { IssuedApiKey } from './api-keys.service.ts';

/** Renders API keys with the limits of this configuration. */
@Injectable()
export class ApiKeyViews {
  constructor(private readonly config: Config) {}

  of(apiKey: ApiKey): ApiKeyView {
    return toApiKeyView(apiKey, this.config);
  }

  /** With the key itself, which only creation and rotation return. */
  issued({ apiKey, key }: IssuedApiKey): ApiKeyView {
    return toApiKeyView(apiKey, this.config, key);
  }

  list(apiKeys: ApiKey[], hasMore: boolean): ApiKeyListView {
    return toList(
      apiKeys.map((apiKey) => this.of(apiKey)),
      hasMore,
      ({ id }) => id,
    );
  }
}
