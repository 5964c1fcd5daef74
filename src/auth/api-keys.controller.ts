import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { RequireScope } from './access/access.ts';
import { type Actor, CurrentActor } from './audit/actor.ts';
import { ErasureView, toErasureView } from './erasure/erasure.view.ts';
import { Erasures } from './erasure/erasures.ts';
import { RevokeApiKeyQuery, UpdateApiKeyInput } from './api-keys/api-key-changes.inputs.ts';
import { CreateApiKeyInput, ListApiKeysQuery, RotateApiKeyInput } from './api-keys/api-key.inputs.ts';
import { ApiKeyListView, ApiKeyView } from './api-keys/api-key.view.ts';
import { ApiKeyViews } from './api-keys/api-key-views.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import { Fails } from '../platform/openapi/faults.ts';

@ApiTags('API keys')
@Controller('v1/api_keys')
@RequireScope('keys:manage')
export class ApiKeysController {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly views: ApiKeyViews,
    private readonly erasures: Erasures,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create an API key; only this response contains the key', operationId: 'createApiKey' })
  @ApiCreatedResponse({ type: ApiKeyView })
  async create(@Body() input: CreateApiKeyInput, @CurrentActor() by: Actor): Promise<ApiKeyView> {
    return this.views.issued(await this.apiKeys.create(input.toNewApiKey(), by));
  }

  @Get()
  @ApiOperation({ summary: 'List the API keys', operationId: 'listApiKeys' })
  @ApiOkResponse({ type: ApiKeyListView })
  async list(@Query() query: ListApiKeysQuery): Promise<ApiKeyListView> {
    const { apiKeys, hasMore } = await this.apiKeys.list({
      limit: query.limit ?? 100,
      after: query.after,
      createdBy: query.created_by,
    });
    return this.views.list(apiKeys, hasMore);
  }

  @Get(':id')
  @Fails('api_key_not_found')
  @ApiOperation({ summary: 'Read an API key', operationId: 'getApiKey' })
  @ApiOkResponse({ type: ApiKeyView })
  async find(@Param('id') id: string): Promise<ApiKeyView> {
    return this.views.of(await this.apiKeys.find(id));
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @Fails('api_key_not_found')
  @ApiOperation({
    summary: 'Give an API key a new secret; only this response contains it',
    operationId: 'rotateApiKey',
  })
  @ApiBody({ type: RotateApiKeyInput, required: false })
  @ApiOkResponse({ type: ApiKeyView })
  async rotate(
    @Param('id') id: string,
    @Body() input: RotateApiKeyInput,
    @CurrentActor() by: Actor,
  ): Promise<ApiKeyView> {
    return this.views.issued(await this.apiKeys.rotate(id, { overlapHours: input.overlap_hours ?? 0 }, by));
  }

  @Patch(':id')
  @Fails('api_key_not_found')
  @ApiOperation({ summary: 'Change the name, scopes, limits or expiry of an API key', operationId: 'updateApiKey' })
  @ApiOkResponse({ type: ApiKeyView })
  async update(
    @Param('id') id: string,
    @Body() input: UpdateApiKeyInput,
    @CurrentActor() by: Actor,
  ): Promise<ApiKeyView> {
    return this.views.of(await this.apiKeys.update(id, input.toChanges(), by));
  }

  @Delete(':id')
  @HttpCode(204)
  @Fails('api_key_not_found')
  @ApiOperation({
    summary:
      'Revoke an API key and end its queued tasks; with `erase`, erase everything that was sent with it or made for it',
    operationId: 'revokeApiKey',
  })
  @ApiNoContentResponse()
  @ApiAcceptedResponse({
    type: ErasureView,
    description: 'With `erase`: the erasure. It goes on in the background.',
  })
  async revoke(
    @Param('id') id: string,
    @Query() { keep_tasks = false, children = false, erase = false }: RevokeApiKeyQuery,
    @CurrentActor() by: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ErasureView | undefined> {
    if (!erase) {
      await this.apiKeys.revoke(id, { keepTasks: keep_tasks, children }, by);
      return undefined;
    }
    if (keep_tasks) {
      throw new ApiError('invalid_value', {
        param: 'keep_tasks',
        message: 'An erasure deletes all tasks, so keep_tasks cannot be true.',
      });
    }
    if (children) {
      throw new ApiError('invalid_value', {
        param: 'children',
        message: 'An erasure erases one key: erase each key by itself.',
      });
    }
    const erasure = toErasureView(await this.erasures.start(id, by));
    void reply.code(202).header('location', `/v1/erasures/${erasure.id}`);
    return erasure;
  }
}
