import { setting } from './setting.ts';
import { decimal, integer, optionalInteger } from './setting-types.ts';
import { YEAR_S } from '../schema/time.ts';

/** Settings that say how long things are kept. */
export const RETENTION_SETTINGS = {
  idempotencyTtlH: setting('IDEMPOTENCY_TTL_H', 'retention', decimal(24, 0.001, 24 * 365), 'Hours.'),
  taskRetentionDays: setting('TASK_RETENTION_DAYS', 'retention', decimal(30, 0.00001, 36_500), 'Days.'),
  taskPartitionDays: setting(
    'TASK_PARTITION_DAYS',
    'retention',
    optionalInteger(1, 366),
    'Ignored until 0.2, which refuses it: tasks and webhooks are in no partitions any more.',
  ),
  fileRetentionDays: setting('FILE_RETENTION_DAYS', 'retention', decimal(7, 0.00001, 36_500), 'Days.'),
  uploadRetentionDays: setting('UPLOAD_RETENTION_DAYS', 'retention', decimal(30, 0.00001, 36_500), 'Days.'),
  fileUrlTtlS: setting(
    'FILE_URL_TTL_S',
    'retention',
    integer(3600, 1, YEAR_S),
    'Seconds a signed link works at least; a quarter more at most.',
  ),

  usageRetentionDays: setting('USAGE_RETENTION_DAYS', 'retention', decimal(400, 1, 36_500), 'Days; of usage.'),
};
