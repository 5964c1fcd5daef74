import { Query, Resolver } from '@nestjs/graphql';
import { ApiError } from '../../errors/api-error.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../../platform/graphql/connection.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import { Scope } from '../access.ts';
import { AuditEventView, toAuditEventView } from './audit-event.view.ts';
import { AuditLog } from './audit-log.ts';

const AuditEventConnection = connectionOf(AuditEventView, 'AuditEvent');
const isAuditEventId = typeIdTest('aud');

@Resolver()
@Scope('keys:manage')
export class AuditResolver {
  constructor(private readonly audit: AuditLog) {}

  @Query(() => AuditEventConnection, { description: 'The acts on all API keys, newest first.' })
  async auditEvents(
    @First() first: number,
    @After() after: string | null | undefined,
  ): Promise<Connection<AuditEventView>> {
    if (typeof after === 'string' && !isAuditEventId(after)) {
      throw new ApiError('invalid_value', { param: 'after', message: 'after must be the id of an audit event.' });
    }
    const { events, hasMore } = await this.audit.list({ limit: first, after: after ?? undefined });
    return toConnection(events.map(toAuditEventView), ({ id }) => id, { hasMore, after });
  }
}
