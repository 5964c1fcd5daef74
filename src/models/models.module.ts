import { Module } from '@nestjs/common';
import { ModelAvailability } from './model-availability.ts';
import { ModelsController } from './models.controller.ts';
import { ModelsResolver } from './models.resolver.ts';
import { ModelsService } from './models.service.ts';

/** What can be made. Exports the service for GraphQL and the register for who knows the providers. */
@Module({
  controllers: [ModelsController],
  providers: [ModelsService, ModelsResolver, ModelAvailability],
  exports: [ModelsService, ModelAvailability],
})
export class ModelsModule {}
