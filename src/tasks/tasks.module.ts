import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.ts';
import { Config } from '../platform/config.ts';
import { Secrets } from '../platform/secrets.ts';
import { DatabaseClock } from './database-clock.ts';
import { FileLinks } from './files/file-links.ts';
import { FilesController } from './files/files.controller.ts';
import { TaskFiles } from './files/task-files.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import { KeyCounters } from './key-counters.entity.ts';
import { KeyChanges } from './key-changes.ts';
import { FollowTasks } from './live/follow.ts';
import { Backlog } from './live/backlog.ts';
import { OpenStreams } from './live/open-streams.ts';
import { OpenWaits } from './live/open-waits.ts';
import { TaskEventsController } from './live/task-events.controller.ts';
import { TaskFeed } from './live/task-feed.ts';
import { Purge } from './queue/purge.ts';
import { Sweep } from './queue/sweep.ts';
import { TakeoverPause } from './queue/takeover-pause.ts';
import { TaskQueue } from './queue/task-queue.ts';
import { WakeSignal } from './queue/wake-signal.ts';
import { AgePriorities } from './sql/age-priorities.ts';
import { ChangedTasks } from './sql/changed-tasks.ts';
import { ClaimTasks } from './sql/claim-tasks.ts';
import { CreateKeyedTasks } from './sql/create-keyed-tasks.ts';
import { CreateTasks } from './sql/create-tasks.ts';
import { EndTasks } from './sql/end-tasks.ts';
import { ListTasks } from './sql/list-tasks.ts';
import { OpenKeyCounters } from './sql/open-key-counters.ts';
import { PurgeRows } from './sql/purge-rows.ts';
import { ReadTasks } from './sql/read-tasks.ts';
import { RecordProgress } from './sql/record-progress.ts';
import { RecordSubmit } from './sql/record-submit.ts';
import { RenewLeases } from './sql/renew-leases.ts';
import { WakeParked } from './sql/wake-parked.ts';
import { TaskViews } from './task-views.ts';
import { Task } from './task.entity.ts';
import { TasksController } from './tasks.controller.ts';
import { TasksResolver } from './tasks.resolver.ts';
import { TasksService } from './tasks.service.ts';

const fileLinks = {
  provide: FileLinks,
  inject: [Config, Secrets],
  useFactory: (config: Config, secrets: Secrets) =>
    new FileLinks(secrets.derive('file-links'), config.publicUrl, config.fileUrlTtlS),
};

const STATEMENTS = [
  AgePriorities,
  ChangedTasks,
  ClaimTasks,
  CreateKeyedTasks,
  CreateTasks,
  EndTasks,
  ListTasks,
  OpenKeyCounters,
  PurgeRows,
  ReadTasks,
  RecordProgress,
  RecordSubmit,
  RenewLeases,
  WakeParked,
];

/** The task and its life. Other modules use it as clients do (TasksService) or as workers do (TaskQueue). */
@Module({
  imports: [AuthModule, TypeOrmModule.forFeature([Task, KeyCounters, IdempotencyKey])],
  controllers: [TasksController, TaskEventsController, FilesController],
  providers: [
    ...STATEMENTS,
    fileLinks,
    DatabaseClock,
    FollowTasks,
    KeyChanges,
    Backlog,
    OpenStreams,
    OpenWaits,
    Purge,
    Sweep,
    TaskFeed,
    TaskFiles,
    TakeoverPause,
    TaskQueue,
    TaskViews,
    TasksResolver,
    TasksService,
    WakeSignal,
  ],
  exports: [TaskQueue, TaskViews, TasksService],
})
export class TasksModule {}
