import type { Statement } from '../../../platform/database/sql.ts';
import { KEYS_ABOVE } from './keys-above.ts';

/** Whether a key works, by the rules of authentication, but without a secret. */
export const IS_WORKING_KEY: Statement = {
  name: 'auth.is_working_key',
  text: `
  select k.revoked_at is null and not above.revoked
         and coalesce(least(k.expires_at, above.expires_at) > now(), true) as works
    from api_keys k${KEYS_ABOVE}
   where k.id = $1`,
};
