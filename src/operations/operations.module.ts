import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.ts';
import { GenerationModule } from '../generation/generation.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { WebhooksModule } from '../webhooks/webhooks.module.ts';
import { OverviewController } from './overview/overview.controller.ts';
import { OverviewService } from './overview/overview.service.ts';
import { PauseUpkeep } from './pauses/pause-upkeep.worker.ts';
import { PausesController } from './pauses/pauses.controller.ts';
import { PausesService } from './pauses/pauses.service.ts';
import { ProcessBeat } from './processes/process-beat.worker.ts';
import { ProcessRow } from './processes/process.entity.ts';
import { ProcessGauges } from './processes/process-gauges.ts';
import { ProcessesController } from './processes/processes.controller.ts';
import { ProcessesService } from './processes/processes.service.ts';
import { CircuitReset } from './providers/circuit-reset.entity.ts';
import { FollowCircuitResets } from './providers/circuit-resets.worker.ts';
import { ProvidersController } from './providers/providers.controller.ts';
import { OperatorProviders } from './providers/providers.service.ts';
import { CircuitResets } from './sql/circuit-resets.ts';
import { ProcessRows } from './sql/process-rows.ts';
import { OperatorTasksController } from './tasks/operator-tasks.controller.ts';
import { OperatorTasks } from './tasks/operator-tasks.service.ts';
import { ReplaysController } from './webhooks/replays.controller.ts';
import { OperatorReplays } from './webhooks/replays.service.ts';

/** What an operator sees and does. */
@Module({
  imports: [
    AuthModule,
    GenerationModule,
    TasksModule,
    WebhooksModule,
    TypeOrmModule.forFeature([CircuitReset, ProcessRow]),
  ],
  controllers: [
    OperatorTasksController,
    OverviewController,
    PausesController,
    ProcessesController,
    ProvidersController,
    ReplaysController,
  ],
  providers: [
    CircuitResets,
    FollowCircuitResets,
    OperatorProviders,
    OperatorReplays,
    OperatorTasks,
    OverviewService,
    PausesService,
    PauseUpkeep,
    ProcessBeat,
    ProcessesService,
    ProcessGauges,
    ProcessRows,
  ],
})
export class OperationsModule {}
