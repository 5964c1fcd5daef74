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
import { ERASURE } from './erase-tasks.service.ts';
import { EstimateResolver } from './estimate/estimate.resolver.ts';
import { EstimatesController } from './estimate/estimates.controller.ts';
import { EstimatesService } from './estimate/estimates.service.ts';
import { FileLinks } from './files/file-links.ts';
import { DeleteOutput } from './files/delete-output.service.ts';
import { TaskFiles } from './files/task-files.ts';
import { CachedTasks } from './cached-tasks.ts';
import { TaskCache } from './task-cache.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import { KeyCounters } from './key-counters.entity.ts';
import { KeyChanges } from './key-changes.ts';
import { NewTasks } from './new-tasks.ts';
import { ListTasks } from './sql/list-tasks.ts';
import { ListAnswers } from './list/list-answers.ts';
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
import { RecentRates } from './insight/recent-rates.ts';
import { Pause } from './pauses/pause.entity.ts';
import { FollowPauses } from './pauses/follow-pauses.ts';
import { Pauses } from './pauses/pauses.ts';
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
import { TaskBatches } from './task-batches.service.ts';
import { TaskViews } from './task-views.ts';
import { STATEMENTS } from './statements.ts';
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
    new FileLinks(secrets.deriveAll('file-links'), config.publicUrl, config.fileUrlTtlS),
};

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
    ...ERASURE,
    DeleteOutput,
    EstimateResolver,
    EstimatesService,
    TaskCache,
    CachedTasks,
    FollowPauses,
    FollowTasks,
    KeyChanges,
    ListAnswers,
    ListTasks,
    NewTasks,
    Backlog,
    OpenStreams,
    OpenWaits,
    ModelLoadService,
    Pace,
    Pauses,
    Purge,
    QueueGauges,
    RecentRates,
    Sweep,
    TaskBatches,
    TaskCountsResolver,
    TaskFeed,
    TaskFiles,
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
    Pauses,
    RecentRates,
    TaskBatches,
    TaskFeed,
    TaskFiles,
    TaskQueue,
    TaskViews,
    TasksService,
    TimelinesService,
    UsageTerms,
    UsualTimes,
  ],
})
export class TasksModule {}
