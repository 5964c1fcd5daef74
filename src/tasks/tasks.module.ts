import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Nodes } from '../auth/access/nodes.ts';
import type { Caller } from '../auth/access/caller.ts';
import { AuthModule } from '../auth/auth.module.ts';
import { Config } from '../platform/config/config.ts';
import { ModelsModule } from '../models/models.module.ts';
import { Secrets } from '../platform/config/secrets.ts';
import { BudgetRefusals } from './acts/budget-refusals.ts';
import { CancelTasksController } from './edge/cancel-tasks.controller.ts';
import { CancelTasksResolver } from './edge/cancel-tasks.resolver.ts';
import { CancelTasks } from './acts/cancel-tasks.ts';
import { DatabaseClock } from './queue/database-clock.ts';
import { DeleteTasks } from './acts/delete-tasks.ts';
import { ERASURE } from './acts/erase-tasks.ts';
import { TaskFieldsResolver } from './edge/task-fields.resolver.ts';
import { TaskInsightController } from './edge/task-insight.controller.ts';
import { EstimatesService } from './insight/estimates.service.ts';
import { FileLinks } from './read/file-links.ts';
import { DeleteOutput } from './acts/delete-output.ts';
import { TaskFiles } from './read/task-files.ts';
import { CachedTasks, TaskCache } from './queue/task-cache.ts';
import { IdempotencyKey } from './record/idempotency-key.entity.ts';
import { KeyCounters } from './record/key-counters.entity.ts';
import { Line } from './record/line.entity.ts';
import { KeyChanges } from './acts/key-changes.ts';
import { NewTasks } from './acts/new-tasks.ts';
import { ListAnswers, ListTasks } from './read/list-tasks.ts';
import { KeepTasksController } from './edge/keep-tasks.controller.ts';
import { KeepTasksResolver } from './edge/keep-tasks.resolver.ts';
import { KeepTasks } from './acts/keep-tasks.ts';
import { PurgeOutputs } from './acts/purge-outputs.ts';
import { TaskCountsController } from './edge/task-counts.controller.ts';
import { TaskCountsResolver } from './edge/task-counts.resolver.ts';
import { GraphqlEvents } from './live/graphql-events.ts';
import { FollowTasks } from './live/follow.ts';
import { Backlog } from './live/backlog.ts';
import { StreamPace } from './live/stream-pace.ts';
import { OpenStreams } from './live/open-streams.ts';
import { OpenWaits } from './live/waits.ts';
import { TaskEventsController } from './edge/task-events.controller.ts';
import { TaskFeed } from './queue/task-feed.ts';
import { ModelLoadService } from './insight/model-load.service.ts';
import { RecentRates } from './insight/recent-rates.ts';
import { Pause } from './record/pause.entity.ts';
import { FollowPauses } from './queue/follow-pauses.ts';
import { IndexWords } from './queue/index-words.ts';
import { Pauses } from './queue/pauses.ts';
import { Pace } from './queue/pace.ts';
import { PaceSample } from './record/pace-sample.entity.ts';
import { RunTimes } from './record/run-times.entity.ts';
import { UsualTimes } from './insight/usual-times.ts';
import { Purge } from './queue/purge.ts';
import { QueueGauges } from './queue/queue-gauges.ts';
import { Sweep } from './queue/sweep.ts';
import { TakeoverPause } from './queue/takeover-pause.ts';
import { TaskQueue } from './queue/task-queue.ts';
import { Vacuum } from './queue/vacuum.ts';
import { WakeSignal } from './queue/wake-signal.ts';
import { TaskBatches } from './acts/task-batches.ts';
import { TaskViews } from './read/task-views.ts';
import { STATEMENTS } from './statements.ts';
import { DoneTask, LiveTask } from './record/task.entity.ts';
import { TaskWords, WordsState } from './record/task-words.entity.ts';
import { TasksController } from './edge/tasks.controller.ts';
import { TasksResolver } from './edge/tasks.resolver.ts';
import { TaskNodeResolver } from './edge/task-node.resolver.ts';
import { TimelinesService } from './insight/timelines.service.ts';
import { TasksService } from './acts/tasks.service.ts';
import { UsageRow } from './record/usage-ledger.entity.ts';
import { UsageTerms } from './record/usage-terms.ts';

const fileLinks = {
  provide: FileLinks,
  inject: [Config, Secrets],
  useFactory: (config: Config, secrets: Secrets) =>
    new FileLinks(secrets.deriveAll('file-links'), config.publicUrl, config.fileUrlTtlS),
};

/**
 * Tasks from creation to deletion. Other modules use tasks as clients do (TasksService) or as workers do (TaskQueue).
 */
@Module({
  imports: [
    AuthModule,
    ModelsModule,
    TypeOrmModule.forFeature([
      LiveTask,
      DoneTask,
      TaskWords,
      WordsState,
      Line,
      KeyCounters,
      IdempotencyKey,
      PaceSample,
      Pause,
      RunTimes,
      UsageRow,
    ]),
  ],
  controllers: [
    TaskCountsController,
    TasksController,
    CancelTasksController,
    KeepTasksController,
    TaskEventsController,
    TaskInsightController,
  ],
  providers: [
    ...STATEMENTS,
    fileLinks,
    ...ERASURE,
    Backlog,
    StreamPace,
    BudgetRefusals,
    CachedTasks,
    CancelTasks,
    CancelTasksResolver,
    DatabaseClock,
    DeleteOutput,
    DeleteTasks,
    EstimatesService,
    FollowPauses,
    FollowTasks,
    GraphqlEvents,
    IndexWords,
    KeepTasks,
    KeepTasksResolver,
    KeyChanges,
    ListAnswers,
    ListTasks,
    ModelLoadService,
    NewTasks,
    OpenStreams,
    OpenWaits,
    Pace,
    Pauses,
    Purge,
    PurgeOutputs,
    QueueGauges,
    RecentRates,
    Sweep,
    TakeoverPause,
    TaskBatches,
    TaskCache,
    TaskCountsResolver,
    TaskFeed,
    TaskFieldsResolver,
    TaskFiles,
    TaskNodeResolver,
    TaskQueue,
    TasksResolver,
    TasksService,
    TaskViews,
    TimelinesService,
    UsageTerms,
    UsualTimes,
    Vacuum,
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
    KeepTasks,
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
export class TasksModule implements OnModuleInit {
  constructor(
    private readonly nodes: Nodes,
    private readonly tasks: TasksService,
    private readonly views: TaskViews,
  ) {}

  onModuleInit(): void {
    const find = async ({ apiKeyId }: Caller, id: string) => this.views.forGraphql(await this.tasks.find(apiKeyId, id));
    this.nodes.register({ prefix: 'task', name: 'Task', scope: 'tasks:read', find });
  }
}
