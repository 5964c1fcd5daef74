import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.ts';
import { FilesModule } from '../files/files.module.ts';
import { ModelsModule } from '../models/models.module.ts';
import { OutboundModule } from '../platform/outbound/outbound.module.ts';
import { ProvenanceModule } from '../provenance/provenance.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { Costs } from './accept/costs.ts';
import { GenerationEstimatesController } from './estimate/generation-estimates.controller.ts';
import { GenerationEstimatesResolver } from './estimate/generation-estimates.resolver.ts';
import { GenerationEstimatesService } from './estimate/generation-estimates.service.ts';
import { TaskClaimer } from './run/task-claimer.ts';
import { RunTask } from './run/run-task.ts';
import { GenerationsController } from './accept/generations.controller.ts';
import { GenerationsResolver } from './accept/generations.resolver.ts';
import { GenerationsService } from './accept/generations.service.ts';
import { PrepareGenerations } from './accept/prepare-generations.ts';
import { ProvidersModule } from '../providers/providers.module.ts';
import { RetriesController } from './retry/retries.controller.ts';
import { RetriesResolver } from './retry/retries.resolver.ts';
import { RetriesService } from './retry/retries.service.ts';
import { Slots } from './run/slots.ts';
import { FreshOutputs } from './run/fresh-outputs.ts';
import { ImageConversions } from './images/image-conversions.ts';
import { PartialImages } from './run/partial-images.ts';
import { ReferenceImages } from './images/reference-images.ts';
import { ScratchBudget } from './images/scratch-budget.ts';
import { RunningTasks } from './run/running-tasks.ts';
import { ServeGeneration } from './run/serve-generation.ts';
import { StoreOutputs } from './run/store-outputs.ts';
import { Thumbnails } from './images/thumbnails.ts';

/** Accepts requests and runs claimed tasks to their end. */
@Module({
  imports: [AuthModule, FilesModule, ModelsModule, TasksModule, OutboundModule, ProvenanceModule, ProvidersModule],
  controllers: [GenerationEstimatesController, GenerationsController, RetriesController],
  providers: [
    Costs,
    GenerationEstimatesResolver,
    GenerationEstimatesService,
    TaskClaimer,
    FreshOutputs,
    RunTask,
    ImageConversions,
    PartialImages,
    GenerationsResolver,
    GenerationsService,
    ReferenceImages,
    RetriesResolver,
    RetriesService,
    Slots,
    PrepareGenerations,
    RunningTasks,
    ScratchBudget,
    ServeGeneration,
    StoreOutputs,
    Thumbnails,
  ],
  exports: [
    FreshOutputs,
    GenerationsService,
    PartialImages,
    PrepareGenerations,
    RetriesService,
    RunningTasks,
    TaskClaimer,
  ],
})
export class GenerationModule {}
