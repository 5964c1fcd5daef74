import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { toList } from '../../platform/schema/list-of.ts';
import { KeyBudgets } from '../limits/key-budgets.ts';
import type { ApiKey } from './api-key.entity.ts';
import { type ApiKeyListView, type ApiKeyView, toApiKeyView } from './api-key.view.ts';
import type { IssuedApiKey } from './api-key-acts.ts';

/** Renders API keys with their limits in force, and with what is used of their budgets. */
@Injectable()
export class ApiKeyViews {
  constructor(
    private readonly config: Config,
    private readonly budgets: KeyBudgets,
  ) {}

  async of(apiKey: ApiKey): Promise<ApiKeyView> {
    const [view] = await this.all([apiKey]);
    return view!;
  }

  /** Renders a new key with its plain text, which only creation and rotation return. */
  async issued({ apiKey, key }: IssuedApiKey): Promise<ApiKeyView> {
    return { ...(await this.of(apiKey)), key };
  }

  async list(apiKeys: ApiKey[], hasMore: boolean): Promise<ApiKeyListView> {
    return toList(await this.all(apiKeys), hasMore, ({ id }) => id);
  }

  /** Runs no statement when none of the keys has a budget. */
  async all(apiKeys: ApiKey[]): Promise<ApiKeyView[]> {
    const budgets = await this.budgets.of(apiKeys.filter(({ limits }) => limits.budget).map(({ id }) => id));
    return apiKeys.map((apiKey) => toApiKeyView(apiKey, this.config, budgets.get(apiKey.id)));
  }
}
