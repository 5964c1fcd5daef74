import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.ts';
import { OutboundModule } from '../platform/outbound/outbound.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { Dispatcher } from './dispatcher.ts';
import { GenerateWorker } from './generate.worker.ts';
import { GenerationsController } from './generations.controller.ts';
import { GenerationsResolver } from './generations.resolver.ts';
import { GenerationsService } from './generations.service.ts';
import { LiveRuns } from './live-runs.ts';
import { Providers } from './providers.ts';
import { SandboxProvider } from './providers/sandbox.provider.ts';
import { ReferenceImages } from './reference-images.ts';
import { RunningTasks } from './running-tasks.ts';
import { ServeGeneration } from './serve-generation.ts';
import { StoreOutputs } from './store-outputs.ts';

/** A request becomes content. */
@Module({
  imports: [ModelsModule, TasksModule, OutboundModule],
  controllers: [GenerationsController],
  providers: [
    Dispatcher,
    GenerateWorker,
    GenerationsResolver,
    GenerationsService,
    LiveRuns,
    Providers,
    SandboxProvider,
    ReferenceImages,
    RunningTasks,
    ServeGeneration,
    StoreOutputs,
  ],
  exports: [GenerationsService, Providers],
})
export class GenerationModule {}
