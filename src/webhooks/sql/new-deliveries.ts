import { Injectable } from '@nestjs/common';
import { idBoundAt } from '../../platform/schema/time.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { ListedDelivery } from './list-deliveries.ts';

/** The maximum number of attempts of one endpoint that a poll reads. Of a busier endpoint it reads the newest ones. */
const MAX_OF_ENDPOINT = 200;

export interface DeliveryOfKey {
  id: string;
  endpoint_id: string;
  api_key_id: string;
}

/** Reads only ids, from an index, because most of the attempts that it finds are known already. */
const SINCE: Statement = {
  name: 'webhooks.new_deliveries',
  text: `
    select d.id, e.id as endpoint_id, e.api_key_id from webhook_endpoints e cross join lateral (
      select id from webhook_deliveries where endpoint_id = e.id and id > $2 order by id desc limit ${MAX_OF_ENDPOINT}) d
    where e.api_key_id = any($1::text[])`,
};

const READ: Statement = {
  name: 'webhooks.read_deliveries',
  text: `
    select d.*, v.task_id from unnest($1::text[], $2::text[]) as wanted(endpoint_id, id)
      join webhook_deliveries d using (endpoint_id, id) join webhook_events v on v.id = d.event_id
     order by d.id`,
};

/** Finds the latest attempts at all endpoints of some keys. Raw SQL because of the limit for each endpoint. */
@Injectable()
export class NewDeliveries {
  constructor(private readonly sql: Sql) {}

  /** @param sinceMs a time by the clock of this process */
  since(apiKeyIds: readonly string[], sinceMs: number): Promise<DeliveryOfKey[]> {
    return this.sql.run<DeliveryOfKey>(SINCE, [apiKeyIds, idBoundAt(sinceMs, 'dlv')]);
  }

  /** Reads these deliveries, oldest first. */
  read(found: readonly DeliveryOfKey[]): Promise<ListedDelivery[]> {
    return this.sql.run<ListedDelivery>(READ, [found.map(({ endpoint_id }) => endpoint_id), found.map(({ id }) => id)]);
  }
}
