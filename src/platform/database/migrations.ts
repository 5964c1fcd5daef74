import type { MigrationInterface } from 'typeorm';
import { Baseline1700000000043 } from './migrations/0043-baseline.ts';
import { KeyMakers1700000000044 } from './migrations/0044-key-makers.ts';
import { UsageValues1700000000045 } from './migrations/0045-usage-values.ts';
import { AnnouncedBytes1700000000046 } from './migrations/0046-announced-bytes.ts';
import { RequestFiles1700000000047 } from './migrations/0047-request-files.ts';
import { ModelVersions1700000000048 } from './migrations/0048-model-versions.ts';
import { TwoTables1700000000049 } from './migrations/0049-two-tables.ts';
import { PlainWebhooks1700000000050 } from './migrations/0050-plain-webhooks.ts';
import { FairLine1700000000051 } from './migrations/0051-fair-line.ts';
import { KeyModels1700000000053 } from './migrations/0053-key-models.ts';
import { FailedCalls1700000000054 } from './migrations/0054-failed-calls.ts';
import { CallMessages1700000000055 } from './migrations/0055-call-messages.ts';
import { KeysBelow1700000000056 } from './migrations/0056-keys-below.ts';
import { KeptTasks1700000000059 } from './migrations/0059-kept-tasks.ts';
import { Shares1700000000060 } from './migrations/0060-shares.ts';
import { QueueSamples1700000000061 } from './migrations/0061-queue-samples.ts';
import { UnnamedVersions1700000000062 } from './migrations/0062-unnamed-versions.ts';
import { OperatorActs1700000000063 } from './migrations/0063-operator-acts.ts';
import { InvalidItems1700000000064 } from './migrations/0064-invalid-items.ts';
import { LiveMetadata1700000000065 } from './migrations/0065-live-metadata.ts';
import { FreeDispatches1700000000066 } from './migrations/0066-free-dispatches.ts';

/**
 * A migration, in SQL that is written by hand. TypeORM sorts migrations by the digits of the class name, which are
 * 1700000000000 plus the number of the file. A missing number was never released.
 */
export interface Migration extends MigrationInterface {
  /**
   * Version of the oldest program that may run after this migration, such as 1.2.0. An older program refuses to start.
   * Most migrations leave this out, because they only add to the schema: then every program may run.
   */
  oldestProgram?: string;
}

/**
 * To add a migration, write a file in `migrations` with the next number (SQL by hand; `down` throws "forward only") and
 * append its class here.
 */
export const MIGRATIONS: (new () => Migration)[] = [
  Baseline1700000000043,
  KeyMakers1700000000044,
  UsageValues1700000000045,
  AnnouncedBytes1700000000046,
  RequestFiles1700000000047,
  ModelVersions1700000000048,
  TwoTables1700000000049,
  PlainWebhooks1700000000050,
  FairLine1700000000051,
  KeyModels1700000000053,
  FailedCalls1700000000054,
  CallMessages1700000000055,
  KeysBelow1700000000056,
  KeptTasks1700000000059,
  Shares1700000000060,
  QueueSamples1700000000061,
  UnnamedVersions1700000000062,
  OperatorActs1700000000063,
  InvalidItems1700000000064,
  LiveMetadata1700000000065,
  FreeDispatches1700000000066,
];
