import { type AuditEventView, toAuditEventView } from '../../auth/audit/audit-event.view.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { ListAuditEventsQuery } from '../../auth/audit/list-audit-events.query.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { withKeyContext } from './key-context.ts';
import { table } from '../terminal/table.ts';

interface ListOptions {
  target?: string;
  action?: string;
  limit: number;
  after?: string;
  json?: true;
}

export async function listAuditEvents({ target, action, limit, after, json }: ListOptions): Promise<void> {
  const query = checkArguments(ListAuditEventsQuery, { target_id: target, action, limit, after });
  await withKeyContext(async (context) => {
    const page = { limit, after: query.after, targetId: query.target_id, action: query.action };
    const { events } = await context.get(AuditLog).list(page);
    const views = events.map(toAuditEventView);
    if (json) console.log(JSON.stringify(views, null, 2));
    else if (views.length === 0) console.log('There are no such events.');
    else console.log(table(views.map(row)));
  });
}

const row = (view: AuditEventView) => ({
  id: view.id,
  time: new Date(view.created_at * 1000).toISOString().slice(0, 19),
  action: view.action,
  target: view.target_id,
  actor: view.actor_id ?? view.actor_type,
  ip: view.ip ?? '-',
});
