import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.ts';
import { Config } from '../platform/config.ts';
import { ModelsModule } from '../models/models.module.ts';
import { Secrets } from '../platform/secrets.ts';
import { BudgetRefusals } from './budget-refusals.ts';
import { CancelTasksController } from './cancel/cancel-tasks.controller.ts';
import { CancelTasksResolver } from './cancel/cancel-tasks.resolver.ts';
import { CancelTasks } from './cancel/cancel-tasks.service.ts';
import { DatabaseClock } from './database-clock.ts';
import { DeleteTasks } from './delete-tasks.ts';
import { EstimateResolver } from './estimate/estimate.resolver.ts';
import { EstimatesController } from './estimate/estimates.controller.ts';
import { EstimatesService } from './estimate/estimates.service.ts';
import { FileLinks } from './files/file-links.ts';
import { DeleteOutput } from './files/delete-output.service.ts';
import { TaskFiles } from './files/task-files.ts';
import { FinalTasks } from './final-tasks.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import { KeyCounters } from './key-counters.entity.ts';
import { KeyChanges } from './key-changes.ts';
import { NewTasks } from './new-tasks.ts';
import { ChildrenResolver } from './list/children.resolver.ts';
import { TaskCountsController } from './list/task-counts.controller.ts';
import { TaskCountsResolver } from './list/task-counts.resolver.ts';
import { FollowTasks } from './live/follow.ts';
import { Backlog } from './live/backlog.ts';
import { OpenStreams } from './live/open-streams.ts';
import { OpenWaits } from './live/open-waits.ts';
import { TaskEventsController } from './live/task-events.controller.ts';
import { TaskFeed } from './live/task-feed.ts';
import { ModelLoadService } from './pace/model-load.service.ts';
import { OperateTasks } from './operate/operate-tasks.service.ts';
import { TakeLeases } from './sql/take-leases.ts';
import { TaskLoad } from './operate/watch-load.service.ts';
import { WatchLoad } from './sql/watch-load.ts';
import { WatchTasks } from './sql/watch-tasks.ts';
import { Pause } from './pauses/pause.entity.ts';
import { FollowPauses } from './pauses/follow-pauses.ts';
import { Pauses } from './pauses/pauses.ts';
import { PauseTasks } from './sql/pause-tasks.ts';
import { Pace } from './pace/pace.ts';
import { PaceSample } from './pace/pace-sample.entity.ts';
import { RunTimes } from './pace/run-times.entity.ts';
import { UsualTimes } from './pace/usual-times.ts';
import { Purge } from './queue/purge.ts';
import { QueueGauges } from './queue/queue-gauges.ts';
import { Sweep } from './queue/sweep.ts';
import { TakeoverPause } from './queue/takeover-pause.ts';
import { TaskQueue } from './queue/task-queue.ts';
import { WakeSignal } from './queue/wake-signal.ts';
import { AgePriorities } from './sql/age-priorities.ts';
import { BatchTasks } from './sql/batch-tasks.ts';
import { ChangedTasks } from './sql/changed-tasks.ts';
import { ClaimTasks } from './sql/claim-tasks.ts';
import { ConfirmCancel } from './sql/confirm-cancel.ts';
import { CountTasks } from './sql/count-tasks.ts';
import { CountUnfinished } from './sql/count-unfinished.ts';
import { CreateKeyedTasks } from './sql/create-keyed-tasks.ts';
import { CreateTaskBatch } from './sql/create-task-batch.ts';
import { CreateTasks } from './sql/create-tasks.ts';
import { DeleteTask } from './sql/delete-task.ts';
import { EndTasks } from './sql/end-tasks.ts';
import { ListChildren } from './sql/list-children.ts';
import { ListTasks } from './sql/list-tasks.ts';
import { OpenKeyCounters } from './sql/open-key-counters.ts';
import { PurgeRows } from './sql/purge-rows.ts';
import { ReadLine } from './sql/read-line.ts';
import { ReadPace } from './sql/read-pace.ts';
import { ReadNextPlace } from './sql/read-next-place.ts';
import { ReadPlaces } from './sql/read-places.ts';
import { ReadTimelines } from './sql/read-timelines.ts';
import { ReadTasks } from './sql/read-tasks.ts';
import { RecordPace } from './sql/record-pace.ts';
import { RecordProgress } from './sql/record-progress.ts';
import { RecordSubmit } from './sql/record-submit.ts';
import { RenewLeases } from './sql/renew-leases.ts';
import { ReplaceResult } from './sql/replace-result.ts';
import { WakeParked } from './sql/wake-parked.ts';
import { TaskBatches } from './task-batches.service.ts';
import { TaskViews } from './task-views.ts';
import { Task } from './task.entity.ts';
import { TasksController } from './tasks.controller.ts';
import { TasksResolver } from './tasks.resolver.ts';
import { TaskNodeResolver } from './task-node.resolver.ts';
import { TimelineResolver } from './timeline/timeline.resolver.ts';
import { TimelinesController } from './timeline/timelines.controller.ts';
import { TimelinesService } from './timeline/timelines.service.ts';
import { TasksService } from './tasks.service.ts';
import { UsageRow } from './usage/usage-ledger.entity.ts';
import { UsageTerms } from './usage/usage-terms.ts';

const fileLinks = {
  provide: FileLinks,
  inject: [Config, Secrets],
  useFactory: (config: Config, secrets: Secrets) =>
    new FileLinks(secrets.derive('file-links'), config.publicUrl, config.fileUrlTtlS),
};

const STATEMENTS = [
  AgePriorities,
  BatchTasks,
  ChangedTasks,
  ClaimTasks,
  ConfirmCancel,
  CountTasks,
  CountUnfinished,
  CreateKeyedTasks,
  CreateTaskBatch,
  CreateTasks,
  DeleteTask,
  EndTasks,
  ListChildren,
  ListTasks,
  OpenKeyCounters,
  PurgeRows,
  ReadLine,
  ReadPace,
  ReadNextPlace,
  ReadPlaces,
  ReadTasks,
  ReadTimelines,
  RecordPace,
  RecordProgress,
  RecordSubmit,
  RenewLeases,
  ReplaceResult,
  TakeLeases,
  WatchLoad,
  WatchTasks,
  PauseTasks,
  WakeParked,
];

/** The task and its life. Other modules use it as clients do (TasksService) or as workers do (TaskQueue). */
@Module({
  imports: [
    AuthModule,
    ModelsModule,
    TypeOrmModule.forFeature([Task, KeyCounters, IdempotencyKey, PaceSample, Pause, RunTimes, UsageRow]),
  ],
  controllers: [
    TaskCountsController,
    TasksController,
    CancelTasksController,
    TaskEventsController,
    EstimatesController,
    TimelinesController,
  ],
  providers: [
    ...STATEMENTS,
    fileLinks,
    BudgetRefusals,
    CancelTasks,
    CancelTasksResolver,
    ChildrenResolver,
    DatabaseClock,
    DeleteTasks,
    DeleteOutput,
    EstimateResolver,
    EstimatesService,
    FinalTasks,
    FollowPauses,
    FollowTasks,
    KeyChanges,
    NewTasks,
    Backlog,
    OpenStreams,
    OpenWaits,
    OperateTasks,
    ModelLoadService,
    Pace,
    Pauses,
    Purge,
    QueueGauges,
    Sweep,
    TaskBatches,
    TaskCountsResolver,
    TaskFeed,
    TaskFiles,
    TaskLoad,
    TakeoverPause,
    TaskQueue,
    TaskViews,
    TasksResolver,
    TasksService,
    UsageTerms,
    TaskNodeResolver,
    TimelineResolver,
    TimelinesService,
    UsualTimes,
    WakeSignal,
  ],
  exports: [
    BudgetRefusals,
    DatabaseClock,
    DeleteOutput,
    DeleteTasks,
    EstimatesService,
    FileLinks,
    FollowPauses,
    FollowTasks,
    OpenStreams,
    OperateTasks,
    Pauses,
    TaskBatches,
    TaskFeed,
    TaskFiles,
    TaskLoad,
    TaskQueue,
    TaskViews,
    TasksService,
    UsageTerms,
  ],
})
export class TasksModule {}
