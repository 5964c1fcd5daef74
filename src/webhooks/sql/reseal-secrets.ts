import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { isAgreed } from '../../platform/database/secret-keys/agreed.ts';

/** The secrets of an endpoint, sealed. */
export interface SealedSecrets {
  id: string;
  secret: Buffer;
  old_secret: Buffer | null;
}

/** The maximum number of endpoints in one round. */
export const RESEAL_BATCH = 100;

/** Reads in the order of the primary key, so that the walk can continue after a secret that cannot be opened. */
const FIND: Statement = {
  name: 'webhooks.find_older_seals',
  text: `
    select id, secret, old_secret from webhook_endpoints
    where id > $1 and secret_key_id is distinct from $2 order by id limit ${RESEAL_BATCH}`,
};

/** Changes no endpoint whose secrets have changed since they were read. */
const STORE: Statement = {
  name: 'webhooks.store_seals',
  text: `
    update webhook_endpoints e set secret = n.secret, old_secret = n.old_secret, secret_key_id = $6
    from unnest($1::text[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) as n (id, secret, old_secret, was, old_was)
    where e.id = n.id and e.secret = n.was and e.old_secret is not distinct from n.old_was and ${isAgreed('$6')}
    returning 1`,
};

/** Raw SQL because one statement changes many rows, each only if its secrets are unchanged. */
@Injectable()
export class ResealSecrets {
  constructor(private readonly sql: Sql) {}

  /** Reads the next endpoints whose `secret_key_id` is not `secretKeyId`. */
  find(afterId: string, secretKeyId: string): Promise<SealedSecrets[]> {
    return this.sql.run(FIND, [afterId, secretKeyId]);
  }

  /** @returns how many were changed */
  async store(resealed: readonly { was: SealedSecrets; now: SealedSecrets }[], secretKeyId: string): Promise<number> {
    const changed = await this.sql.run(STORE, [
      resealed.map(({ was }) => was.id),
      resealed.map(({ now }) => now.secret),
      resealed.map(({ now }) => now.old_secret),
      resealed.map(({ was }) => was.secret),
      resealed.map(({ was }) => was.old_secret),
      secretKeyId,
    ]);
    return changed.length;
  }
}
