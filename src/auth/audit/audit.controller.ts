import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { toList } from '../../platform/schema/list-of.ts';
import { Scope } from '../access.ts';
import { AuditEventListView, toAuditEventView } from './audit-event.view.ts';
import { AuditLog } from './audit-log.ts';
import { ListAuditEventsQuery } from './list-audit-events.query.ts';

@ApiTags('Operations')
@Controller('v1/operations/audit_events')
@Scope('keys:manage')
export class AuditController {
  constructor(private readonly audit: AuditLog) {}

  @Get()
  @ApiOperation({ summary: 'List the acts on API keys, newest first', operationId: 'listAuditEvents' })
  @ApiOkResponse({ type: AuditEventListView })
  async list(@Query() { limit = 20, after, target_id, action }: ListAuditEventsQuery): Promise<AuditEventListView> {
    const { events, hasMore } = await this.audit.list({ limit, after, targetId: target_id, action });
    return toList(events.map(toAuditEventView), hasMore, ({ id }) => id);
  }
}
