import { BatchTasks } from './sql/batch-tasks.ts';
import { ChangedTasks } from './sql/changed-tasks.ts';
import { ClaimTasks } from './sql/claim-tasks.ts';
import { ConfirmCancel } from './sql/confirm-cancel.ts';
import { CountTasks } from './sql/count-tasks.ts';
import { CountByModel } from './sql/count-by-model.ts';
import { CreateSharedTasks } from './sql/create-shared-tasks.ts';
import { CreateTaskBatch } from './sql/create-task-batch.ts';
import { CreateTasks } from './sql/create-tasks.ts';
import { DeleteTask } from './sql/delete-task.ts';
import { EndTasks } from './sql/end-tasks.ts';
import { FillWords } from './sql/fill-words.ts';
import { HoldTask } from './sql/hold-task.ts';
import { LapsedOutputs } from './sql/lapsed-outputs.ts';
import { ListChildren } from './sql/list-children.ts';
import { ListUnfinished } from './sql/list-unfinished.ts';
import { MatchTasks } from './sql/match-tasks.ts';
import { OpenKeyCounters } from './sql/admission.ts';
import { PurgeRows } from './sql/purge-rows.ts';
import { ReadLine } from './sql/read-line.ts';
import { ReadPace } from './sql/read-pace.ts';
import { ReadNextPlace } from './sql/read-next-place.ts';
import { ReadPages } from './sql/read-pages.ts';
import { ReadPlaces } from './sql/read-places.ts';
import { ReadTasks } from './sql/read-tasks.ts';
import { ReadTimelines } from './sql/read-timelines.ts';
import { RecordPace } from './sql/record-pace.ts';
import { RecordProgress } from './sql/record-progress.ts';
import { RecordSubmit } from './sql/record-submit.ts';
import { RenewLeases } from './sql/renew-leases.ts';
import { ReplaceResult } from './sql/replace-result.ts';
import { SetModelVersion } from './sql/set-model-version.ts';
import { TakeLeases } from './sql/take-leases.ts';
import { TaskWordsIndex } from './sql/task-words.ts';
import { VacuumQueue } from './sql/vacuum-queue.ts';
import { PauseTasks } from './sql/pause-tasks.ts';
import { WakeParked } from './sql/wake-parked.ts';

/** The Nest providers of `sql/`. Each runs the statements for one purpose. */
export const STATEMENTS = [
  BatchTasks,
  ChangedTasks,
  ClaimTasks,
  ConfirmCancel,
  CountTasks,
  CountByModel,
  CreateTaskBatch,
  CreateSharedTasks,
  CreateTasks,
  DeleteTask,
  EndTasks,
  FillWords,
  HoldTask,
  LapsedOutputs,
  ListChildren,
  ListUnfinished,
  MatchTasks,
  OpenKeyCounters,
  PurgeRows,
  ReadLine,
  ReadPace,
  ReadNextPlace,
  ReadPages,
  ReadPlaces,
  ReadTasks,
  ReadTimelines,
  RecordPace,
  RecordProgress,
  RecordSubmit,
  RenewLeases,
  ReplaceResult,
  SetModelVersion,
  TakeLeases,
  TaskWordsIndex,
  VacuumQueue,
  PauseTasks,
  WakeParked,
];
