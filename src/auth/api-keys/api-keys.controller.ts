import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Config } from '../../platform/config.ts';
import { toList } from '../../platform/schema/list-of.ts';
import { CurrentCaller, Scope } from '../access.ts';
import { CreateApiKeyInput, ListApiKeysQuery, RotateApiKeyInput } from './api-key.inputs.ts';
import { ApiKeyListView, ApiKeyView, toApiKeyView } from './api-key.view.ts';
import { ApiKeysService } from './api-keys.service.ts';
import type { Caller } from '../caller.ts';

@ApiTags('API keys')
@Controller('v1/api_keys')
@Scope('keys:manage')
export class ApiKeysController {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly config: Config,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create an API key; it is shown this once', operationId: 'createApiKey' })
  @ApiCreatedResponse({ type: ApiKeyView })
  async create(@Body() input: CreateApiKeyInput, @CurrentCaller() caller: Caller): Promise<ApiKeyView> {
    const { apiKey, key } = await this.apiKeys.create(input.toNewApiKey(), caller);
    return toApiKeyView(apiKey, this.config, key);
  }

  @Get()
  @ApiOperation({ summary: 'List the API keys', operationId: 'listApiKeys' })
  @ApiOkResponse({ type: ApiKeyListView })
  async list(@Query() query: ListApiKeysQuery): Promise<ApiKeyListView> {
    const { apiKeys, hasMore } = await this.apiKeys.list({ limit: query.limit ?? 100, after: query.after });
    const views = apiKeys.map((apiKey) => toApiKeyView(apiKey, this.config));
    return toList(views, hasMore, ({ id }) => id);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read an API key', operationId: 'getApiKey' })
  @ApiOkResponse({ type: ApiKeyView })
  async find(@Param('id') id: string): Promise<ApiKeyView> {
    return toApiKeyView(await this.apiKeys.find(id), this.config);
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @ApiOperation({ summary: 'Give an API key a new secret', operationId: 'rotateApiKey' })
  @ApiOkResponse({ type: ApiKeyView })
  async rotate(
    @Param('id') id: string,
    @Body() input: RotateApiKeyInput,
    @CurrentCaller() caller: Caller,
  ): Promise<ApiKeyView> {
    const { apiKey, key } = await this.apiKeys.rotate(id, { overlapHours: input.overlap_hours ?? 0 }, caller);
    return toApiKeyView(apiKey, this.config, key);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke an API key', operationId: 'revokeApiKey' })
  @ApiNoContentResponse()
  async revoke(@Param('id') id: string): Promise<void> {
    await this.apiKeys.revoke(id);
  }
}
