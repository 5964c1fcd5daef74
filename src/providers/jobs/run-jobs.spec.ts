import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { RecordedRun } from '../../../test/support/stubs/recorded-run.ts';
import { cancelJobs, type Jobs, runJobs } from './run-jobs.ts';

const run = new RecordedRun();
const log = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
afterAll(() => {
  run.close();
  log.mockRestore();
});

const refused = new Error('https://upstream.example/jobs/1?token=abc is down');

it('logs a failed cancel of a paid job, with its task and without secrets', async () => {
  const jobs: Jobs<string, string> = {
    provider: 'fal',
    taskId: 'task_1',
    count: 2,
    outputs: 2,
    retryMs: 1,
    submit: async (index) => ({ id: `job-${index}`, requestId: null }),
    wait: async (id) => id,
    collect: async (id) => {
      if (id === 'job-1') throw new Error('failed');
      return [id];
    },
    cancel: async (id) => {
      if (id === 'job-0') throw refused;
    },
  };
  await expect(runJobs(run, jobs)).rejects.toThrow('failed');
  await new Promise(setImmediate);
  expect(log.mock.calls).toEqual([
    [
      {
        event: 'upstream.cancel_failed',
        task_id: 'task_1',
        provider: 'fal',
        upstream_id: 'job-0',
        cause: { provider: 'fal', message: 'https://upstream.example/jobs/1?… is down' },
      },
    ],
  ]);
});

it('reports once that every job is accepted, before the first poll', async () => {
  const steps: string[] = [];
  const jobs: Jobs<string, string> = {
    provider: 'fal',
    taskId: 'task_1',
    count: 2,
    outputs: 2,
    retryMs: 1,
    submit: async (index) => {
      steps.push(`submit ${index}`);
      return { id: `job-${index}`, requestId: null };
    },
    accepted: async () => void steps.push('accepted'),
    wait: async (id) => {
      steps.push(`wait ${id}`);
      return id;
    },
    collect: async (id) => [id],
    cancel: async () => undefined,
  };
  expect(await runJobs(run, jobs)).toEqual(['job-0', 'job-1']);
  expect(steps).toEqual(['submit 0', 'submit 1', 'accepted', 'wait job-0', 'wait job-1']);
});

it('sends the paid call only when the intent to pay is committed', async () => {
  const committed = Promise.withResolvers<void>();
  const steps: string[] = [];
  const waiting = Object.assign(new RecordedRun(), {
    submitting: () => committed.promise.then(() => void steps.push('committed')),
  });
  const jobs: Jobs<string, string> = {
    provider: 'fal',
    taskId: 'task_1',
    count: 1,
    outputs: 1,
    retryMs: 1,
    submit: async () => {
      steps.push('paid');
      return { id: 'job-0', requestId: null };
    },
    wait: async (id) => id,
    collect: async (id) => [id],
    cancel: async () => undefined,
  };
  const made = runJobs(waiting, jobs);
  await new Promise(setImmediate);
  expect(steps).toEqual([]);
  committed.resolve();
  await made;
  expect(steps).toEqual(['committed', 'paid']);
  waiting.close();
});

it('tries to cancel every job, and then reports the first failure', async () => {
  const tried: string[] = [];
  const cancel = async (id: string) => {
    tried.push(id);
    if (id === 'a') throw refused;
  };
  await expect(cancelJobs('a,b,?', cancel)).rejects.toBe(refused);
  expect(tried).toEqual(['a', 'b']);
});
