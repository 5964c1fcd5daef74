import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CountsAs, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { type Actor, CurrentActor } from '../../auth/audit/actor.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { toList } from '../../platform/schema/list-of.ts';
import { CreateShareInput, DEFAULT_PAGE, ListSharesQuery } from './share.inputs.ts';
import { ShareLinks } from './share-links.ts';
import { DeletedShareView, ShareListView, ShareView, toDeletedShareView, toShareView } from './share.view.ts';
import { Shares } from './shares.ts';

@ApiTags('Files')
@Controller('v1/shares')
export class SharesController {
  constructor(
    private readonly shares: Shares,
    private readonly links: ShareLinks,
  ) {}

  @Post()
  @RequireScope('generations:write')
  @CountsAs('create')
  @Fails('file_not_found', 'file_expired', 'upload_incomplete')
  @ApiOperation({ summary: 'Make a page of files for people without a key', operationId: 'createShare' })
  @ApiCreatedResponse({ type: ShareView })
  async create(@CurrentActor() actor: Actor, @Body() input: CreateShareInput): Promise<ShareView> {
    return toShareView(await this.shares.create(actor, input), this.links);
  }

  @Get()
  @RequireScope('tasks:read')
  @ApiOperation({ summary: 'List the shares that have not ended, newest first', operationId: 'listShares' })
  @ApiOkResponse({ type: ShareListView })
  async list(
    @CurrentCaller() { apiKeyId }: Caller,
    @Query() { limit = DEFAULT_PAGE, after }: ListSharesQuery,
  ): Promise<ShareListView> {
    const { shares, hasMore } = await this.shares.list(apiKeyId, { limit, after });
    const views = shares.map((share) => toShareView(share, this.links));
    return toList(views, hasMore, ({ id }) => id);
  }

  @Delete(':id')
  @HttpCode(200)
  @RequireScope('generations:write')
  @Fails('share_not_found')
  @ApiOperation({ summary: 'End a share', operationId: 'deleteShare' })
  @ApiOkResponse({ type: DeletedShareView })
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedShareView> {
    await this.shares.delete(actor, id);
    return toDeletedShareView(id);
  }
}
