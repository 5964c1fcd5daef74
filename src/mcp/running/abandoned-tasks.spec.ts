import { jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { ToolCall } from '../contract/tool.ts';
import { AbandonedTasks } from './abandoned-tasks.ts';

describe('a task whose client left', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const watched = (state: { destroyed: boolean; writableFinished: boolean }) => {
    const cancel = jest.fn(async () => ({ cancelled: false }));
    const tasks = new AbandonedTasks({ isAbandoned: async () => true } as never, { cancel } as never);
    const raw = Object.assign(new EventEmitter(), state);
    const call = { caller: { apiKeyId: 'key_1' }, reply: { raw } } as unknown as ToolCall;
    tasks.watch(call, { taskId: 'task_1', fingerprint: 'f' });
    return { cancel, raw };
  };

  it('is cancelled, also when the client left while it was created', async () => {
    for (const destroyed of [false, true]) {
      const { cancel, raw } = watched({ destroyed, writableFinished: false });
      if (!destroyed) raw.emit('close');
      await jest.advanceTimersByTimeAsync(10_000);
      expect(cancel).toHaveBeenCalledWith('key_1', 'task_1', { unclaimed: true });
    }
  });

  it('goes on when its client has the answer', async () => {
    const { cancel, raw } = watched({ destroyed: false, writableFinished: true });
    raw.emit('close');
    await jest.advanceTimersByTimeAsync(10_000);
    expect(cancel).not.toHaveBeenCalled();
  });
});
