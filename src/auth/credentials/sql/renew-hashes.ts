import type { Sql, Statement } from '../../../platform/database/sql.ts';
import { isAgreed } from '../../../platform/database/secret-keys/agreed.ts';

/** A secret whose stored hash was made with an older SECRET_KEY, or whose row does not name the SECRET_KEY. */
export interface RenewedHash {
  from: Buffer;
  /** The hash made with the newest SECRET_KEY. Equal to `from` when the row only lacks the name of the SECRET_KEY. */
  to: Buffer;
}

/**
 * Replaces hashes. Sessions and sign-in links follow by their foreign keys. Raw SQL because of `skip locked`: a locked
 * row is skipped, because another process renews it or opens a session with it. The next use of the skipped key tries
 * again.
 */
const RENEW: Statement = {
  name: 'auth.renew_hashes',
  text: `
  with due as (
    select s.hash, n.renewed
      from unnest($1::bytea[], $2::bytea[]) as n (was, renewed) join api_key_secrets s on s.hash = n.was
     where n.was = n.renewed or not exists (select from api_key_secrets o where o.hash = n.renewed)
     order by s.hash for update of s skip locked
  )
  update api_key_secrets s set hash = due.renewed, secret_key_id = $3 from due where s.hash = due.hash and ${isAgreed('$3')}`,
};

export async function renewHashes(sql: Sql, renewed: readonly RenewedHash[], secretKeyId: string): Promise<void> {
  await sql.run(RENEW, [renewed.map(({ from }) => from), renewed.map(({ to }) => to), secretKeyId]);
}
