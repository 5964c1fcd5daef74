import { jest } from '@jest/globals';
import { announceTask, announcement } from './announcer.ts';
import { clearTasks, putTasks, type TaskRow } from './task-store.ts';

const row = (change: Partial<TaskRow>): TaskRow => ({
  taskId: 'task_a',
  sequence: 1,
  status: 'QUEUED',
  progress: 0,
  kind: 'IMAGE',
  model: 'gpt-image-2',
  createdAt: 1,
  startedAt: 0,
  completedAt: 0,
  error: null,
  cost: null,
  outputs: [],
  filesUntil: 0,
  kept: false,
  collection: null,
  prompt: 'A lighthouse',
  ...change,
});

describe('what a screen reader is told', () => {
  beforeEach(() => {
    jest.useFakeTimers();
    jest.setSystemTime(0);
    clearTasks();
  });
  afterEach(() => jest.useRealTimers());

  it('is a sentence at a change of state and at each quarter, at most one in 5 s, the newest of each task', () => {
    putTasks([row({})]);
    const stop = announceTask('task_a');
    putTasks([row({ status: 'RUNNING', progress: 3, sequence: 2 })]);
    jest.advanceTimersByTime(0);
    expect(announcement()).toBe('3 percent: A lighthouse');
    putTasks([row({ status: 'RUNNING', progress: 26, sequence: 3 })]);
    putTasks([row({ status: 'RUNNING', progress: 52, sequence: 4 })]);
    jest.advanceTimersByTime(4_900);
    expect(announcement()).toBe('3 percent: A lighthouse');
    jest.advanceTimersByTime(200);
    expect(announcement()).toBe('52 percent: A lighthouse');
    putTasks([row({ status: 'RUNNING', progress: 60, sequence: 5 })]);
    putTasks([row({ status: 'SUCCEEDED', sequence: 6 })]);
    jest.advanceTimersByTime(6_000);
    expect(announcement()).toBe('Succeeded: A lighthouse');
    stop();
    putTasks([row({ status: 'FAILED', sequence: 7 })]);
    jest.advanceTimersByTime(6_000);
    expect(announcement()).toBe('Succeeded: A lighthouse');
  });
});
