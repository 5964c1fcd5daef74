import { Module } from '@nestjs/common';
import { Config } from '../platform/config.ts';
import { Secrets } from '../platform/secrets.ts';
import { AuthModule } from '../auth/auth.module.ts';
import { ChangedTasks } from './acts/changed-tasks.ts';
import { ClaimTasks } from './acts/claim-tasks.ts';
import { CreateKeyedTasks } from './acts/create-keyed-tasks.ts';
import { CreateTasks } from './acts/create-tasks.ts';
import { EndTasks } from './acts/end-tasks.ts';
import { KeyLoad } from './acts/key-load.ts';
import { PurgeTasks } from './acts/purge-tasks.ts';
import { ReadTasks } from './acts/read-tasks.ts';
import { RecordProgress } from './acts/record-progress.ts';
import { RecordSubmit } from './acts/record-submit.ts';
import { RenewLeases } from './acts/renew-leases.ts';
import { SweepTasks } from './acts/sweep-tasks.ts';
import { WakeParked } from './acts/wake-parked.ts';
import { FileLinks } from './file-links.ts';
import { FilesController } from './files.controller.ts';
import { ListTasks } from './list-tasks.ts';
import { LiveTasks } from './live-tasks.ts';
import { OpenStreams } from './open-streams.ts';
import { Purge } from './purge.ts';
import { Sweep } from './sweep.ts';
import { TaskEventsController } from './task-events.controller.ts';
import { TaskEnds } from './task-ends.ts';
import { TaskFeed } from './task-feed.ts';
import { TaskFiles } from './task-files.ts';
import { TaskViews } from './task-views.ts';
import { TasksController } from './tasks.controller.ts';
import { TasksResolver } from './tasks.resolver.ts';
import { TasksService } from './tasks.service.ts';
import { WorkBell } from './work-bell.ts';

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
    KeyLoad,
    PurgeTasks,
    ReadTasks,
    RecordProgress,
    RecordSubmit,
    RenewLeases,
    SweepTasks,
    WakeParked,
    fileLinks,
    ListTasks,
    LiveTasks,
    OpenStreams,
    Purge,
    Sweep,
    TaskEnds,
    TaskFeed,
    TaskFiles,
    TaskViews,
    TasksResolver,
    TasksService,
    WorkBell,
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
    WorkBell,
  ],
})
export class TasksModule {}
