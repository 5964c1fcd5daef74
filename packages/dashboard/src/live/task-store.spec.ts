import { clearTasks, onTask, putTasks, stateChanges, taskRow, type TaskRow } from './task-store.ts';

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

beforeEach(clearTasks);

describe('the store of tasks', () => {
  it('never goes back when a slow read crosses the feed', () => {
    putTasks([row({ status: 'RUNNING', progress: 60, sequence: 4 })]);
    putTasks([row({ status: 'QUEUED', sequence: 1 }), row({ status: 'RUNNING', progress: 40, sequence: 3 })]);
    expect(taskRow('task_a')).toMatchObject({ status: 'RUNNING', progress: 60 });
  });

  it('keeps the end of a task when a repeated creation shows its first answer', () => {
    putTasks([row({ status: 'SUCCEEDED', sequence: 4 })]);
    putTasks([row({ status: 'QUEUED', sequence: 4 })]);
    expect(taskRow('task_a')?.status).toBe('SUCCEEDED');
  });

  it('tells a change of state from a progress', () => {
    putTasks([row({ status: 'RUNNING', progress: 10 })]);
    const before = stateChanges();
    putTasks([row({ status: 'RUNNING', progress: 20, sequence: 2 })]);
    expect(stateChanges()).toBe(before);
    putTasks([row({ status: 'SUCCEEDED', sequence: 3 })]);
    expect(stateChanges()).toBe(before + 1);
  });

  it('calls only the listeners of the task that changed, and returns the new ones', () => {
    const calls: string[] = [];
    onTask('task_a', () => calls.push('a'));
    onTask('task_b', () => calls.push('b'));
    expect(putTasks([row({})])).toHaveLength(1);
    expect(putTasks([row({ status: 'RUNNING' })])).toHaveLength(0);
    expect(calls).toEqual(['a', 'a']);
  });
});
