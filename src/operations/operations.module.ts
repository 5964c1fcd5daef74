import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.ts';
import { GenerationModule } from '../generation/generation.module.ts';
import { ProvidersModule } from '../providers/providers.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { WebhooksModule } from '../webhooks/webhooks.module.ts';
import { ActivityReporter } from './activity/activity-reporter.ts';
import { RecentActivity } from './processes/recent-activity.ts';
import { AuditEventsResolver } from './audit-events.resolver.ts';
import { KeyQueuesController } from './tasks/key-queues.controller.ts';
import { KeyQueuesResolver } from './tasks/key-queues.resolver.ts';
import { KeyQueues } from './tasks/key-queues.ts';
import { LogLevelsController } from './processes/log-levels.controller.ts';
import { LogLevelsRow } from './processes/log-levels.entity.ts';
import { LogLevelsResolver } from './processes/log-levels.resolver.ts';
import { LogLevelsService } from './processes/log-levels.service.ts';
import { OperationsUpdates } from './operations-updates.ts';
import { OperationsResolver } from './operations.resolver.ts';
import { OverviewController } from './overview/overview.controller.ts';
import { OverviewResolver } from './overview/overview.resolver.ts';
import { OverviewService } from './overview/overview.service.ts';
import { PauseUpkeepWorker } from './pauses/pause-upkeep.worker.ts';
import { PausesController } from './pauses/pauses.controller.ts';
import { PausesResolver } from './pauses/pauses.resolver.ts';
import { PausesService } from './pauses/pauses.service.ts';
import { ProcessGauges } from './processes/process-gauges.ts';
import { ProcessRow } from './processes/process.entity.ts';
import { ProcessesController } from './processes/processes.controller.ts';
import { ProcessesResolver } from './processes/processes.resolver.ts';
import { ProcessesService } from './processes/processes.service.ts';
import { CircuitReset } from './providers/circuit-reset.entity.ts';
import { CircuitResetsWorker } from './providers/circuit-resets.worker.ts';
import { ProvidersController } from './providers/providers.controller.ts';
import { ProvidersResolver } from './providers/providers.resolver.ts';
import { OperatorProviders } from './providers/operator-providers.ts';
import { CircuitResets } from './providers/sql/circuit-resets.ts';
import { ProcessRows } from './processes/sql/process-rows.ts';
import { ReadMigrations } from './overview/sql/read-migrations.ts';
import { QueueHistoryController } from './tasks/queue-history.controller.ts';
import { QueueHistoryResolver } from './tasks/queue-history.resolver.ts';
import { QueueSample } from './tasks/queue-sample.entity.ts';
import { OperatorTasksController } from './tasks/operator-tasks.controller.ts';
import { OperatorTasksResolver } from './tasks/operator-tasks.resolver.ts';
import { OperatorTasks } from './tasks/operator-tasks.ts';
import { QueueSamples } from './tasks/sql/queue-samples.ts';
import { WatchLoad } from './tasks/sql/watch-load.ts';
import { WatchTasks } from './tasks/sql/watch-tasks.ts';
import { WatchedTasksResolver } from './tasks/watched-tasks.resolver.ts';
import { OperatorWebhooksController } from './webhooks/operator-webhooks.controller.ts';
import { OperatorWebhooksResolver } from './webhooks/operator-webhooks.resolver.ts';
import { OperatorWebhooks } from './webhooks/operator-webhooks.ts';
import { WatchEndpoints } from './webhooks/sql/watch-endpoints.ts';
import { ReplaysController } from './webhooks/replays.controller.ts';
import { ReplaysResolver } from './webhooks/replays.resolver.ts';
import { OperatorReplays } from './webhooks/operator-replays.ts';

/** What an operator sees and does. */
@Module({
  imports: [
    AuthModule,
    GenerationModule,
    ProvidersModule,
    TasksModule,
    WebhooksModule,
    TypeOrmModule.forFeature([CircuitReset, LogLevelsRow, ProcessRow, QueueSample]),
  ],
  controllers: [
    KeyQueuesController,
    LogLevelsController,
    OperatorTasksController,
    OperatorWebhooksController,
    OverviewController,
    PausesController,
    ProcessesController,
    ProvidersController,
    QueueHistoryController,
    ReplaysController,
  ],
  providers: [
    ActivityReporter,
    AuditEventsResolver,
    CircuitResets,
    CircuitResetsWorker,
    KeyQueues,
    KeyQueuesResolver,
    LogLevelsResolver,
    LogLevelsService,
    OperationsResolver,
    OperationsUpdates,
    OperatorProviders,
    OperatorReplays,
    OperatorTasks,
    OperatorTasksResolver,
    OperatorWebhooks,
    OperatorWebhooksResolver,
    OverviewResolver,
    OverviewService,
    PausesResolver,
    PausesService,
    PauseUpkeepWorker,
    ProcessesResolver,
    ProcessesService,
    ProcessGauges,
    ProcessRows,
    ProvidersResolver,
    QueueHistoryResolver,
    QueueSamples,
    ReadMigrations,
    RecentActivity,
    ReplaysResolver,
    WatchedTasksResolver,
    WatchEndpoints,
    WatchLoad,
    WatchTasks,
  ],
  exports: [ActivityReporter, ProcessesService, ProcessRows, QueueSamples],
})
export class OperationsModule {}
