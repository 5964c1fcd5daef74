import { Module } from '@nestjs/common';
import { ModelAvailability } from './model-availability.ts';
import { ModelHealth } from './model-health.ts';
import { ModelPricing } from './model-pricing.ts';
import { ModelsController } from './models.controller.ts';
import { ModelsResolver } from './models.resolver.ts';
import { ModelsService } from './models.service.ts';

/** The catalogue of models. Upper rooms supply what changes: ModelAvailability, ModelHealth and ModelPricing. */
@Module({
  controllers: [ModelsController],
  providers: [ModelsService, ModelsResolver, ModelAvailability, ModelHealth, ModelPricing],
  exports: [ModelsService, ModelAvailability, ModelHealth, ModelPricing],
})
export class ModelsModule {}
