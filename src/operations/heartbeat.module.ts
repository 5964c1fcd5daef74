import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.ts';
import { GenerationModule } from '../generation/generation.module.ts';
import { ProvidersModule } from '../providers/providers.module.ts';
import { OperationsModule } from './operations.module.ts';
import { ProcessHeartbeatWorker } from './processes/process-heartbeat.worker.ts';
import { QueueSamplerWorker } from './tasks/queue-sampler.worker.ts';

/** Makes the process and the past of the queue visible to operators. The command line uses the services of operators without it. */
@Module({
  imports: [AuthModule, GenerationModule, OperationsModule, ProvidersModule],
  providers: [ProcessHeartbeatWorker, QueueSamplerWorker],
})
export class HeartbeatModule {}
