import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.ts';
import { GenerationModule } from '../generation/generation.module.ts';
import { ProvidersModule } from '../providers/providers.module.ts';
import { OperationsModule } from './operations.module.ts';
import { ProcessHeartbeatWorker } from './processes/process-heartbeat.worker.ts';
import { QueueSamplerWorker } from './tasks/queue-sampler.worker.ts';

/**
 * Records this process and samples of the queue, for operators. The command line imports OperationsModule without this
 * module.
 */
@Module({
  imports: [AuthModule, GenerationModule, OperationsModule, ProvidersModule],
  providers: [ProcessHeartbeatWorker, QueueSamplerWorker],
})
export class HeartbeatModule {}
