import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.ts';
import { ModelsModule } from '../models/models.module.ts';
import { OutboundModule } from '../platform/outbound/outbound.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { TaskClaimer } from './run/task-claimer.ts';
import { GenerateWorker } from './run/generate.worker.ts';
import { GenerationsController } from './accept/generations.controller.ts';
import { GenerationsResolver } from './accept/generations.resolver.ts';
import { GenerationsService } from './accept/generations.service.ts';
import { ProviderRegistry } from '../providers/registry.ts';
import { SandboxProvider } from '../providers/sandbox/sandbox.provider.ts';
import { ReferenceImages } from './images/reference-images.ts';
import { RunningTasks } from './run/running-tasks.ts';
import { ServeGeneration } from './run/serve-generation.ts';
import { StoreOutputs } from './run/store-outputs.ts';

/** A request becomes content. */
@Module({
  imports: [AuthModule, ModelsModule, TasksModule, OutboundModule],
  controllers: [GenerationsController],
  providers: [
    TaskClaimer,
    GenerateWorker,
    GenerationsResolver,
    GenerationsService,
    ProviderRegistry,
    SandboxProvider,
    ReferenceImages,
    RunningTasks,
    ServeGeneration,
    StoreOutputs,
  ],
  exports: [GenerationsService, ProviderRegistry],
})
export class GenerationModule {}
