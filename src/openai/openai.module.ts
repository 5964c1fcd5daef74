import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.ts';
import { BatchesModule } from '../batches/batches.module.ts';
import { CallsModule } from '../calls/calls.module.ts';
import { FilesModule } from '../files/files.module.ts';
import { GenerationModule } from '../generation/generation.module.ts';
import { ModelsModule } from '../models/models.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { OpenaiBatchEndpoints } from './batch-endpoints.ts';
import { ImagesController } from './images/images.controller.ts';
import { ImagesService } from './images/images.service.ts';
import { ModelIds } from './request/model-ids.ts';
import { UploadedImages } from './request/uploaded-images.ts';
import { VideoContent } from './videos/video-content.ts';
import { VideosController } from './videos/videos.controller.ts';
import { VideosService } from './videos/videos.service.ts';

/** Translates OpenAI's image and video routes. Holds no state. */
@Module({
  imports: [AuthModule, BatchesModule, CallsModule, FilesModule, GenerationModule, ModelsModule, TasksModule],
  controllers: [ImagesController, VideosController],
  providers: [ImagesService, ModelIds, OpenaiBatchEndpoints, UploadedImages, VideoContent, VideosService],
})
export class OpenaiModule {}
