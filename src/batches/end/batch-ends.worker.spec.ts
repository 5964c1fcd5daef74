import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Config } from '../../platform/config/config.ts';
import type { TaskBatches } from '../../tasks/acts/task-batches.ts';
import type { TaskQueue } from '../../tasks/queue/task-queue.ts';
import type { EventRecorder } from '../../webhooks/events/event-recorder.ts';
import type { BatchViews } from '../record/batch-views.ts';
import type { EndBatches } from '../sql/end-batches.ts';
import { BatchEndsWorker } from './batch-ends.worker.ts';

it('ends the other batches when one of them cannot be ended', async () => {
  jest.useFakeTimers();
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const checked: string[] = [];
  const rows = {
    leftBehind: async () => [
      { id: 'broken', status: 'cancelling' },
      { id: 'whole', status: 'in_progress' },
    ],
    hasUnfinished: async (id: string) => checked.push(id) > 0,
    purge: async () => 0,
  };
  const tasks = { cancel: () => Promise.reject(new Error('a row that cannot be written')) };
  const worker = new BatchEndsWorker(
    { role: 'worker', taskSweepS: 60 } as Config,
    {} as TaskQueue,
    tasks as unknown as TaskBatches,
    rows as unknown as EndBatches,
    {} as EventRecorder,
    {} as BatchViews,
  );
  worker.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(checked).toEqual(['whole']);
  await worker.onApplicationShutdown();
});
