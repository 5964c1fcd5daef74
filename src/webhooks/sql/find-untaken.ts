import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Within this many seconds, a process should have taken a due delivery. */
const GRACE_S = 30;

/** Leaves out failing endpoints: they get one attempt at a time, so it is normal that their deliveries wait. */
const FIND: Statement = {
  name: 'webhooks.find_untaken',
  text: `
    select distinct v.task_id from webhook_endpoints e
      join webhook_dispatches d on d.endpoint_id = e.id and d.due_at < now() - interval '${GRACE_S} seconds'
      join webhook_events v on v.id = d.event_id
    where e.status = 'enabled' and e.failing_since is null and v.task_id is not null
      and ($1::text is null or v.task_id > $1) and ($2::text is null or e.api_key_id = $2)
    order by v.task_id limit $3`,
};

/** Raw SQL because of the join over three tables. */
@Injectable()
export class FindUntaken {
  constructor(private readonly sql: Sql) {}

  /**
   * The tasks whose event has been due at a healthy endpoint for more than `GRACE_S`, although no process has tried to
   * deliver it.
   */
  async taskIds(page: { after: string | null; apiKeyId: string | null; limit: number }): Promise<string[]> {
    const rows = await this.sql.run<{ task_id: string }>(FIND, [page.after, page.apiKeyId, page.limit]);
    return rows.map(({ task_id }) => task_id);
  }
}
