import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.ts';
import { GenerationModule } from '../generation/generation.module.ts';
import { ProvidersModule } from '../providers/providers.module.ts';
import { OperationsModule } from './operations.module.ts';
import { ProcessHeartbeatWorker } from './processes/process-heartbeat.worker.ts';
import { QueueSamplerWorker } from './tasks/queue-sampler.worker.ts';

/** Shows this process and the history of the queue to operators. The command line uses OperationsModule without it. */
@Module({
  imports: [AuthModule, GenerationModule, OperationsModule, ProvidersModule],
  providers: [ProcessHeartbeatWorker, QueueSamplerWorker],
})
export class HeartbeatModule {}
