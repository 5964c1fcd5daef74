import { Args, ResolveField, Resolver } from '@nestjs/graphql';
import type { AuditAction } from '../auth/audit/audit-event.entity.ts';
import {
  AuditActionChoice,
  AuditEventConnection,
  type AuditEventView,
  toAuditEventView,
} from '../auth/audit/audit-event.view.ts';
import { AuditLog } from '../auth/audit/audit-log.ts';
import { ListAuditEventsQuery } from '../auth/audit/list-audit-events.query.ts';
import { After, type Connection, First, toConnection } from '../platform/graphql/connection.ts';
import { checkArguments } from '../platform/http/input.pipe.ts';
import { OperationsView } from './views/operations.view.ts';

@Resolver(() => OperationsView)
export class AuditEventsResolver {
  constructor(private readonly audit: AuditLog) {}

  @ResolveField(() => AuditEventConnection, {
    description: 'The acts of administrators and operators, newest first.',
  })
  async auditEvents(
    @First() first: number,
    @After() after: string | null | undefined,
    @Args('targetId', { type: () => String, nullable: true, description: 'only acts on the target with this id' })
    targetId: string | null | undefined,
    @Args('action', { type: () => AuditActionChoice.graphql, nullable: true, description: 'only this action' })
    action: AuditAction | null | undefined,
    @Args('keepsAndShares', {
      type: () => Boolean,
      nullable: true,
      description: 'true: only acts of keeping and sharing; false: all others',
    })
    keepsAndShares: boolean | null | undefined,
  ): Promise<Connection<AuditEventView>> {
    const given = { after, target_id: targetId, action, keeps_and_shares: keepsAndShares };
    const query = checkArguments(ListAuditEventsQuery, given);
    const filter = { targetId: query.target_id, action: query.action, keepsAndShares: query.keeps_and_shares };
    const { events, hasMore } = await this.audit.list({ limit: first, after: query.after, ...filter });
    return toConnection(events.map(toAuditEventView), ({ id }) => id, { hasMore, after });
  }
}
