import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/**
 * The connection of the call stays open. A higher `joined_retry` takes the call from this connection, so a later
 * delivery to it is not recorded.
 */
const GIVE_UP: Statement = {
  name: 'calls.give_up',
  text: `
    update calls set hung_up_at = now(), joined_until = null, joined_retry = joined_retry + 1
    where api_key_id = $1 and message = $2 and delivered_at is null and created_at > now() - interval '10 minutes'`,
};

/** Raw SQL because the statement increments a column. */
@Injectable()
export class GiveUpCall {
  constructor(private readonly sql: Sql) {}

  /** @param message as in `CallRequest` */
  async giveUp(apiKeyId: string, message: string): Promise<void> {
    await this.sql.run(GIVE_UP, [apiKeyId, message]);
  }
}
