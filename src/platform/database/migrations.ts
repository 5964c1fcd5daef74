import type { MigrationInterface } from 'typeorm';
import { ApiKeys1700000000001 } from './migrations/0001-api-keys.ts';
import { Tasks1700000000002 } from './migrations/0002-tasks.ts';
import { Webhooks1700000000003 } from './migrations/0003-webhooks.ts';
import { EndedTasks1700000000004 } from './migrations/0004-ended-tasks.ts';
import { ProviderPlaces1700000000005 } from './migrations/0005-provider-places.ts';
import { RateWindows1700000000006 } from './migrations/0006-rate-windows.ts';
import { ProviderModel1700000000007 } from './migrations/0007-provider-model.ts';
import { WaitingTasks1700000000008 } from './migrations/0008-waiting-tasks.ts';
import { GivenUpDeliveries1700000000009 } from './migrations/0009-given-up-deliveries.ts';
import { AuditEvents1700000000010 } from './migrations/0010-audit-events.ts';
import { PurgeLeases1700000000011 } from './migrations/0011-purge-leases.ts';
import { StorageMarker1700000000012 } from './migrations/0012-storage-marker.ts';
import { TaskOrigin1700000000013 } from './migrations/0013-task-origin.ts';
import { Uploads1700000000014 } from './migrations/0014-uploads.ts';
import { Calls1700000000015 } from './migrations/0015-calls.ts';
import { TaskRequestId1700000000016 } from './migrations/0016-task-request-id.ts';
import { Usage1700000000018 } from './migrations/0018-usage.ts';
import { Priorities1700000000019 } from './migrations/0019-priorities.ts';
import { Insight1700000000020 } from './migrations/0020-insight.ts';
import { Batches1700000000021 } from './migrations/0021-batches.ts';
import { Budgets1700000000022 } from './migrations/0022-budgets.ts';
import { Processes1700000000023 } from './migrations/0023-processes.ts';
import { Operations1700000000024 } from './migrations/0024-operations.ts';
import { TraceParents1700000000026 } from './migrations/0026-trace-parents.ts';
import { OperatorLevels1700000000027 } from './migrations/0027-operator-levels.ts';
import { Sessions1700000000028 } from './migrations/0028-sessions.ts';
import { Dashboard1700000000029 } from './migrations/0029-dashboard.ts';
import { Restorations1700000000032 } from './migrations/0032-restorations.ts';
import { OldestProgram1700000000033 } from './migrations/0033-oldest-program.ts';
import { TaskPartitions1700000000034 } from './migrations/0034-task-partitions.ts';
import { Erasures1700000000036 } from './migrations/0036-erasures.ts';
import { FileRetention1700000000037 } from './migrations/0037-file-retention.ts';
import { SecretKeys1700000000038 } from './migrations/0038-secret-keys.ts';
import { WebhookKeys1700000000039 } from './migrations/0039-webhook-keys.ts';
import { WebhookPartitions1700000000040 } from './migrations/0040-webhook-partitions.ts';
import { TaskFacets1700000000041 } from './migrations/0041-task-facets.ts';
import { NoChecksOfTasks1700000000043 } from './migrations/0043-no-checks-of-tasks.ts';
import { KeyMakers1700000000044 } from './migrations/0044-key-makers.ts';
import { UsageValues1700000000045 } from './migrations/0045-usage-values.ts';
import { AnnouncedBytes1700000000046 } from './migrations/0046-announced-bytes.ts';
import { RequestFiles1700000000047 } from './migrations/0047-request-files.ts';
import { ModelVersions1700000000048 } from './migrations/0048-model-versions.ts';

/** SQL by hand. */
export interface Migration extends MigrationInterface {
  /**
   * The version of the oldest program that may run afterwards, such as 1.2.0: an older one refuses to start. Absent when any may, as it
   * should be: expand, fill, then contract.
   */
  oldestProgram?: string;
}

/** To add a migration, write `migrations/NNNN-name.ts` (SQL by hand; `down` throws "forward only") and append its class here. */
export const MIGRATIONS: (new () => Migration)[] = [
  ApiKeys1700000000001,
  Tasks1700000000002,
  Webhooks1700000000003,
  EndedTasks1700000000004,
  ProviderPlaces1700000000005,
  RateWindows1700000000006,
  ProviderModel1700000000007,
  WaitingTasks1700000000008,
  GivenUpDeliveries1700000000009,
  AuditEvents1700000000010,
  PurgeLeases1700000000011,
  StorageMarker1700000000012,
  TaskOrigin1700000000013,
  Uploads1700000000014,
  Calls1700000000015,
  TaskRequestId1700000000016,
  Usage1700000000018,
  Priorities1700000000019,
  Insight1700000000020,
  Batches1700000000021,
  Budgets1700000000022,
  Processes1700000000023,
  Operations1700000000024,
  TraceParents1700000000026,
  OperatorLevels1700000000027,
  Sessions1700000000028,
  Dashboard1700000000029,
  Restorations1700000000032,
  OldestProgram1700000000033,
  TaskPartitions1700000000034,
  Erasures1700000000036,
  FileRetention1700000000037,
  SecretKeys1700000000038,
  WebhookKeys1700000000039,
  WebhookPartitions1700000000040,
  TaskFacets1700000000041,
  NoChecksOfTasks1700000000043,
  KeyMakers1700000000044,
  UsageValues1700000000045,
  AnnouncedBytes1700000000046,
  RequestFiles1700000000047,
  ModelVersions1700000000048,
];
