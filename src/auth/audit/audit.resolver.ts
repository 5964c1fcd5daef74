import { UseGuards } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { ApiError } from '../../errors/api-error.ts';
import { After, type Connection, First, toConnection } from '../../platform/graphql/connection.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import { CurrentCaller } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import { AuditEventConnection, type AuditEventView, toAuditEventView } from './audit-event.view.ts';
import { AuditLog } from './audit-log.ts';
import { AuditScopeGuard, visibleTo } from './audit-scope.guard.ts';

const isAuditEventId = typeIdTest('aud');

@Resolver()
@UseGuards(AuditScopeGuard)
export class AuditResolver {
  constructor(private readonly audit: AuditLog) {}

  @Query(() => AuditEventConnection, {
    description:
      'The acts of administrators and operators, newest first; without `operations:read` only those on API keys.',
  })
  async auditEvents(
    @CurrentCaller() caller: Caller,
    @First() first: number,
    @After() after: string | null | undefined,
  ): Promise<Connection<AuditEventView>> {
    if (typeof after === 'string' && !isAuditEventId(after)) {
      throw new ApiError('invalid_value', { param: 'after', message: 'after must be the id of an audit event.' });
    }
    const { events, hasMore } = await this.audit.list({
      limit: first,
      after: after ?? undefined,
      ...visibleTo(caller),
    });
    return toConnection(events.map(toAuditEventView), ({ id }) => id, { hasMore, after });
  }
}
