import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { Call } from './call.entity.ts';
import { CallPurge } from './call-purge.ts';
import { CallWaits } from './call-waits.ts';
import { CallsService } from './calls.service.ts';
import { JoinLeases } from './join-leases.ts';
import { OpenCalls } from './open-calls.ts';
import { EraseCalls } from './sql/erase-calls.ts';
import { GiveUpCall } from './sql/give-up-call.ts';
import { JoinCall } from './sql/join-call.ts';
import { JoinEqualCall } from './sql/join-equal-call.ts';
import { PurgeCalls } from './sql/purge-calls.ts';
import { WriteCalls } from './sql/write-calls.ts';

/**
 * Requests that create a task and wait for it: how they wait, how they end without an answer, and how a retry joins an
 * earlier attempt.
 */
@Module({
  imports: [AuthModule, TasksModule, TypeOrmModule.forFeature([Call])],
  providers: [
    CallPurge,
    CallWaits,
    CallsService,
    EraseCalls,
    GiveUpCall,
    JoinCall,
    JoinEqualCall,
    JoinLeases,
    OpenCalls,
    PurgeCalls,
    WriteCalls,
  ],
  exports: [CallWaits, CallsService, OpenCalls],
})
export class CallsModule {}
