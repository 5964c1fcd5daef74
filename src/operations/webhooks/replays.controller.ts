import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, CurrentActor } from '../../auth/audit/actor.ts';
import { listOf, toList } from '../../platform/schema/list-of.ts';
import { ListReplaysQuery, ReplayWebhooksInput, WebhookReplayView } from './replay.view.ts';
import { OperatorReplays } from './operator-replays.ts';
import { Fails } from '../../platform/openapi/faults.ts';

class WebhookReplayListView extends listOf(WebhookReplayView, 'newest first') {}

const Id = ApiParam({ name: 'id', schema: { type: 'string' } });

@ApiTags('Operations')
@Controller('v1/operations/webhooks')
export class ReplaysController {
  constructor(private readonly replays: OperatorReplays) {}

  @Post('replay')
  @RequireScope('operations:manage')
  @ApiOperation({ summary: 'Resend the webhook events of a time range', operationId: 'replayWebhooks' })
  @ApiCreatedResponse({ type: WebhookReplayView })
  create(@Body() input: ReplayWebhooksInput, @CurrentActor() actor: Actor): Promise<WebhookReplayView> {
    return this.replays.create(input, actor);
  }

  @Get('replays')
  @RequireScope('operations:read')
  @ApiOperation({ summary: 'List the webhook replays, newest first', operationId: 'listWebhookReplays' })
  @ApiOkResponse({ type: WebhookReplayListView })
  async list(@Query() { limit = 20, after }: ListReplaysQuery): Promise<WebhookReplayListView> {
    const { replays, hasMore } = await this.replays.list({ limit, ...(after !== undefined && { after }) });
    return toList(replays, hasMore, ({ id }) => id);
  }

  @Get('replays/:id')
  @Id
  @RequireScope('operations:read')
  @Fails('webhook_replay_not_found')
  @ApiOperation({ summary: 'Read a webhook replay and its progress', operationId: 'getWebhookReplay' })
  @ApiOkResponse({ type: WebhookReplayView })
  find(@Param('id') id: string): Promise<WebhookReplayView> {
    return this.replays.find(id);
  }

  @Post('replays/:id/cancel')
  @Id
  @HttpCode(200)
  @RequireScope('operations:manage')
  @Fails('webhook_replay_not_found')
  @ApiOperation({ summary: 'Stop a webhook replay', operationId: 'cancelWebhookReplay' })
  @ApiOkResponse({ type: WebhookReplayView })
  cancel(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<WebhookReplayView> {
    return this.replays.cancel(id, actor);
  }
}
