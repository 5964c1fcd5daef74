import { Args, Float, Mutation, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { After, connectionOf, type Connection, First, toConnection } from '../platform/graphql/connection.ts';
import { ApiField } from '../platform/schema/api-field.ts';
import { RequireScope } from './access/access.ts';
import { type Actor, CurrentActor } from './audit/actor.ts';
import { UpdateApiKeyInput } from './api-keys/api-key-changes.inputs.ts';
import { assertKeyId, assertOverlap, CreateApiKeyInput } from './api-keys/api-key.inputs.ts';
import { ApiKeyView } from './api-keys/api-key.view.ts';
import { ApiKeyViews } from './api-keys/api-key-views.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';

const ApiKeyConnection = connectionOf(ApiKeyView, 'ApiKey');
const ID = { description: 'identifier' };

@ObjectType('RevokedApiKey', { description: 'A revoked API key.' })
export class RevokedApiKeyView {
  @ApiField.string('identifier') id: string;
}

@Resolver()
@RequireScope('keys:manage')
export class ApiKeysResolver {
  constructor(
    private readonly service: ApiKeysService,
    private readonly views: ApiKeyViews,
  ) {}

  @Query(() => ApiKeyConnection, { description: 'The API keys, newest first.' })
  async apiKeys(
    @First() limit: number,
    @After() after: string | null | undefined,
    @Args('createdBy', { type: () => String, nullable: true, description: 'only keys that this key has created' })
    createdBy: string | null | undefined,
  ): Promise<Connection<ApiKeyView>> {
    const filter = { after: assertKeyId('after', after), createdBy: assertKeyId('created_by', createdBy) };
    const page = await this.service.list({ limit, ...filter });
    return toConnection(await this.views.all(page.apiKeys), ({ id }) => id, { hasMore: page.hasMore, after });
  }

  @Query(() => ApiKeyView, { description: 'One API key.' })
  async apiKey(@Args('id', ID) id: string): Promise<ApiKeyView> {
    return this.views.of(await this.service.find(id));
  }

  @Mutation(() => ApiKeyView, { description: 'Creates an API key. Only this result contains the key.' })
  async createApiKey(
    @Args('input', { description: 'the key to create' }) input: CreateApiKeyInput,
    @CurrentActor() by: Actor,
  ): Promise<ApiKeyView> {
    return this.views.issued(await this.service.create(input.toNewApiKey(), by));
  }

  @Mutation(() => ApiKeyView, { description: 'Changes an API key. Every process notices within 5 seconds.' })
  async updateApiKey(
    @Args('id', ID) id: string,
    @Args('input', { description: 'what to change' }) input: UpdateApiKeyInput,
    @CurrentActor() by: Actor,
  ): Promise<ApiKeyView> {
    return this.views.of(await this.service.update(id, input.toChanges(), by));
  }

  @Mutation(() => ApiKeyView, { description: 'Gives an API key a new secret. Only this result contains it.' })
  async rotateApiKey(
    @Args('id', ID) id: string,
    @Args('overlapHours', {
      type: () => Float,
      nullable: true,
      description: 'hours during which the old secret stays valid, up to 168; 0 when left out',
    })
    overlapHours: number | null | undefined,
    @CurrentActor() by: Actor,
  ): Promise<ApiKeyView> {
    return this.views.issued(await this.service.rotate(id, { overlapHours: assertOverlap(overlapHours ?? 0) }, by));
  }

  @Mutation(() => RevokedApiKeyView, { description: 'Revokes an API key, and ends its queued tasks.' })
  async revokeApiKey(
    @Args('id', ID) id: string,
    @Args('keepTasks', {
      type: () => Boolean,
      nullable: true,
      description: 'whether the queued tasks of the key still run; false when left out',
    })
    keepTasks: boolean | null | undefined,
    @Args('children', {
      type: () => Boolean,
      nullable: true,
      description:
        'whether the keys below it are revoked too: those that it has created, and theirs in turn; false when left out',
    })
    children: boolean | null | undefined,
    @CurrentActor() by: Actor,
  ): Promise<RevokedApiKeyView> {
    await this.service.revoke(id, { keepTasks: keepTasks ?? false, children: children ?? false }, by);
    return { id };
  }
}
