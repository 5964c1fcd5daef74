import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { toList } from '../../platform/schema/list-of.ts';
import { CurrentCaller } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import { AuditEventListView, toAuditEventView } from './audit-event.view.ts';
import { AuditLog } from './audit-log.ts';
import { AuditScopeGuard, visibleTo } from './audit-scope.guard.ts';
import { ListAuditEventsQuery } from './list-audit-events.query.ts';

@ApiTags('Operations')
@Controller('v1/operations/audit_events')
@UseGuards(AuditScopeGuard)
export class AuditController {
  constructor(private readonly audit: AuditLog) {}

  @Get()
  @ApiOperation({
    summary: 'List the acts of administrators and operators, newest first',
    operationId: 'listAuditEvents',
  })
  @ApiOkResponse({ type: AuditEventListView })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() { limit = 20, after, target_id, action, keeps_and_shares }: ListAuditEventsQuery,
  ): Promise<AuditEventListView> {
    const filter = { targetId: target_id, action, keepsAndShares: keeps_and_shares };
    const page = { limit, after, ...filter, ...visibleTo(caller) };
    const { events, hasMore } = await this.audit.list(page);
    return toList(events.map(toAuditEventView), hasMore, ({ id }) => id);
  }
}
