import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.ts';
import { GenerationModule } from '../../generation/generation.module.ts';
import { OperationsModule } from '../operations.module.ts';
import { ProcessBeat } from './process-beat.worker.ts';

/** Makes the process one that operators see. The command line has the services of operators without it. */
@Module({ imports: [AuthModule, GenerationModule, OperationsModule], providers: [ProcessBeat] })
export class BeatModule {}
