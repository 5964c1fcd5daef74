import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Nodes } from '../auth/access/nodes.ts';
import type { Caller } from '../auth/access/caller.ts';
import { AuthModule } from '../auth/auth.module.ts';
import { FilesModule } from '../files/files.module.ts';
import { GenerationModule } from '../generation/generation.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { WebhooksModule } from '../webhooks/webhooks.module.ts';
import { BatchViews } from './record/batch-views.ts';
import { Batch } from './record/batch.entity.ts';
import { BatchesController } from './batches.controller.ts';
import { BatchesResolver } from './batches.resolver.ts';
import { BatchesService } from './read/batches.service.ts';
import { BatchEndpoints } from './create/batch-endpoints.ts';
import { CreateBatches } from './create/create-batches.ts';
import { BatchEndsWorker } from './end/batch-ends.worker.ts';
import { CancelBatches } from './end/cancel-batches.ts';
import { BatchEventsController } from './live/batch-events.controller.ts';
import { FollowBatches } from './live/follow-batches.ts';
import { BatchResults } from './results/batch-results.ts';
import { BatchRows } from './sql/batch-rows.ts';
import { EraseBatches } from './sql/erase-batches.ts';
import { EndBatches } from './sql/end-batches.ts';

/** Creates many generations in one transaction, and serves their results. */
@Module({
  imports: [AuthModule, FilesModule, GenerationModule, TasksModule, WebhooksModule, TypeOrmModule.forFeature([Batch])],
  controllers: [BatchesController, BatchEventsController],
  providers: [
    BatchEndpoints,
    BatchEndsWorker,
    BatchesResolver,
    BatchesService,
    BatchResults,
    BatchRows,
    BatchViews,
    CancelBatches,
    CreateBatches,
    EndBatches,
    EraseBatches,
    FollowBatches,
  ],
  exports: [BatchEndpoints],
})
export class BatchesModule implements OnModuleInit {
  constructor(
    private readonly nodes: Nodes,
    private readonly batches: BatchesService,
    private readonly views: BatchViews,
  ) {}

  onModuleInit(): void {
    const find = async ({ apiKeyId }: Caller, id: string) => this.views.of(await this.batches.find(apiKeyId, id));
    this.nodes.register({ prefix: 'batch', name: 'Batch', scope: 'tasks:read', find });
  }
}
