import { Module } from '@nestjs/common';
import { Config } from '../platform/config.ts';
import { Secrets } from '../platform/secrets.ts';
import { AuthModule } from '../auth/auth.module.ts';
import { ChangedTasks } from './sql/changed-tasks.ts';
import { ClaimTasks } from './sql/claim-tasks.ts';
import { CreateKeyedTasks } from './sql/create-keyed-tasks.ts';
import { CreateTasks } from './sql/create-tasks.ts';
import { EndTasks } from './sql/end-tasks.ts';
import { KeyCounters } from './sql/key-counters.ts';
import { PurgeTasks } from './sql/purge-tasks.ts';
import { ReadTasks } from './sql/read-tasks.ts';
import { RecordProgress } from './sql/record-progress.ts';
import { RecordSubmit } from './sql/record-submit.ts';
import { RenewLeases } from './sql/renew-leases.ts';
import { SweepTasks } from './sql/sweep-tasks.ts';
import { WakeParked } from './sql/wake-parked.ts';
import { FileLinks } from './files/file-links.ts';
import { FilesController } from './files/files.controller.ts';
import { KeyChanges } from './key-changes.ts';
import { ListTasks } from './list/list-tasks.ts';
import { FollowTasks } from './live/follow.ts';
import { OpenStreams } from './live/open-streams.ts';
import { Purge } from './queue/purge.ts';
import { Sweep } from './queue/sweep.ts';
import { TaskEventsController } from './live/task-events.controller.ts';
import { TaskEnds } from './queue/task-ends.ts';
import { TaskFeed } from './live/task-feed.ts';
import { TaskFiles } from './files/task-files.ts';
import { TaskViews } from './task-views.ts';
import { TasksController } from './tasks.controller.ts';
import { TasksResolver } from './tasks.resolver.ts';
import { TasksService } from './tasks.service.ts';
import { WakeSignal } from './queue/wake-signal.ts';

const fileLinks = {
  provide: FileLinks,
  inject: [Config, Secrets],
  useFactory: (config: Config, secrets: Secrets) =>
    new FileLinks(secrets.derive('file-links'), config.publicUrl, config.fileUrlTtlS),
};

/** The record and its life. The acts for workers are exported beside the service for clients. */
@Module({
  imports: [AuthModule],
  controllers: [TasksController, TaskEventsController, FilesController],
  providers: [
    ChangedTasks,
    ClaimTasks,
    CreateKeyedTasks,
    CreateTasks,
    EndTasks,
    KeyCounters,
    PurgeTasks,
    ReadTasks,
    RecordProgress,
    RecordSubmit,
    RenewLeases,
    SweepTasks,
    WakeParked,
    fileLinks,
    ListTasks,
    FollowTasks,
    KeyChanges,
    OpenStreams,
    Purge,
    Sweep,
    TaskEnds,
    TaskFeed,
    TaskFiles,
    TaskViews,
    TasksResolver,
    TasksService,
    WakeSignal,
  ],
  exports: [
    ClaimTasks,
    EndTasks,
    ReadTasks,
    RecordProgress,
    RecordSubmit,
    RenewLeases,
    ListTasks,
    TaskEnds,
    TaskFeed,
    TaskViews,
    TasksService,
    WakeSignal,
  ],
})
export class TasksModule {}
