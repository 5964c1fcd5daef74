import { jest } from '@jest/globals';
import type { Bus } from '../../platform/events/bus.ts';
import type { ChangedTasks } from '../sql/changed-tasks.ts';
import type { ReadTasks } from '../sql/read-tasks.ts';
import type { Task } from '../task.entity.ts';
import { TaskFeed } from './task-feed.ts';

const bus: Bus = {
  publish() {},
  subscribe: () => () => undefined,
  onReconnect() {},
  start: async () => {},
  stop: async () => {},
};
const ended = (id: string) => ({ id, api_key_id: 'key_1', status: 'failed' }) as Task;

/** Time enough for a look at what has ended. */
const A_LOOK_MS = 20_000;

describe('the look for ends that nobody told', () => {
  let feed: TaskFeed;

  beforeEach(async () => {
    jest.useFakeTimers();
    const changed = { endedOf: async () => [], endedWithin: async () => ['task_told', 'task_untold'] };
    feed = new TaskFeed(
      bus,
      { find: async (id: string) => ended(id) } as unknown as ReadTasks,
      changed as unknown as ChangedTasks,
    );
    await feed.onApplicationBootstrap();
  });

  afterEach(async () => {
    await feed.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('tells them once, and not what was told before anybody listened', async () => {
    feed.publish([ended('task_told')]);
    const heard: string[] = [];
    feed.watchKey('key_1', ({ id }) => heard.push(id));
    await jest.advanceTimersByTimeAsync(2 * A_LOOK_MS);
    expect(heard).toEqual(['task_untold']);
  });
});
