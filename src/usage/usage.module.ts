import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { RollUpWorker } from './roll-up.worker.ts';
import { EraseUsage } from './sql/erase-usage.ts';
import { ReadUsage } from './sql/read-usage.ts';
import { RollUp } from './sql/roll-up.ts';
import { KeySpending } from './key-spending.ts';
import { UsageSum } from './usage-sum.entity.ts';
import { UsageValue } from './usage-value.entity.ts';
import { UsageController } from './usage.controller.ts';
import { UsageResolver } from './usage.resolver.ts';
import { UsageService } from './usage.service.ts';

/**
 * Sums and reads what tasks used and cost. The code in src/tasks writes the ledger, in the statement that ends a task.
 */
@Module({
  imports: [AuthModule, TasksModule, TypeOrmModule.forFeature([UsageSum, UsageValue])],
  controllers: [UsageController],
  providers: [EraseUsage, KeySpending, ReadUsage, RollUp, RollUpWorker, UsageResolver, UsageService],
  exports: [UsageService],
})
export class UsageModule {}
