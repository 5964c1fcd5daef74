import { Module } from '@nestjs/common';
import { ModelAvailability } from './model-availability.ts';
import { ModelsController } from './models.controller.ts';
import { ModelsResolver } from './models.resolver.ts';
import { ModelsService } from './models.service.ts';

/** The catalogue of models. Exports ModelAvailability for the provider registry. */
@Module({
  controllers: [ModelsController],
  providers: [ModelsService, ModelsResolver, ModelAvailability],
  exports: [ModelsService, ModelAvailability],
})
export class ModelsModule {}
