import { unixSeconds } from '../../platform/time.ts';
import type { ApiKey } from './api-key.entity.ts';

/** What an audit event keeps of a key. Its limits are its own ones, without the configured ones. */
export const snapshotOf = ({ name, hint, scopes, limits, expires_at }: ApiKey) => ({
  name,
  hint,
  scopes,
  limits,
  expires_at: expires_at && unixSeconds(expires_at),
});
