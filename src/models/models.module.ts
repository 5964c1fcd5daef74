import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ModelAvailability } from './model-availability.ts';
import { ModelHealth } from './model-health.ts';
import { ModelPricing } from './model-pricing.ts';
import { ModelsController } from './models.controller.ts';
import { ModelsResolver } from './models.resolver.ts';
import { ModelsService } from './models.service.ts';
import { ModelVersion } from './versions/model-version.entity.ts';
import { ModelVersions } from './versions/model-versions.ts';

/**
 * The catalogue of models. Other modules supply what changes through ModelAvailability, ModelHealth and ModelPricing.
 */
@Module({
  imports: [TypeOrmModule.forFeature([ModelVersion])],
  controllers: [ModelsController],
  providers: [ModelsService, ModelsResolver, ModelAvailability, ModelHealth, ModelPricing, ModelVersions],
  exports: [ModelsService, ModelAvailability, ModelHealth, ModelPricing, ModelVersions],
})
export class ModelsModule {}
