import { setting } from './setting.ts';
import { databaseUrl, integer, oneOf, optionalPast } from './setting-types.ts';

/** Settings of the connections to PostgreSQL. */
export const DATABASE_SETTINGS = {
  databaseUrl: setting(
    'DATABASE_URL',
    'storage',
    databaseUrl(),
    'PostgreSQL 14 or newer; unset: an embedded one under DATA_DIR.',
  ),
  databasePooler: setting(
    'DATABASE_POOLER',
    'storage',
    oneOf(['none', 'transaction'], 'none'),
    'transaction: DATABASE_URL leads to PgBouncer (1.21 or newer) in transaction mode.',
  ),
  databaseDirectUrl: setting(
    'DATABASE_DIRECT_URL',
    'storage',
    databaseUrl(),
    'The same database past the pooler, for migrations and LISTEN. Required with DATABASE_POOLER=transaction.',
  ),
  databasePoolMax: setting(
    'DATABASE_POOL_MAX',
    'storage',
    integer(20, 5, 500),
    'Most pooled connections of a process to the database.',
  ),
  restoredFrom: setting(
    'RESTORED_FROM',
    'storage',
    optionalPast(),
    'After a restore: the time of the backup. What was unfinished then is neither bought nor reported again.',
  ),
  migrate: setting(
    'MIGRATE',
    'storage',
    oneOf(['auto', 'off', 'only'], 'auto'),
    'auto: migrates at the start; off: only checks that all is migrated; only: migrates and ends.',
  ),
};
