import { jest } from '@jest/globals';
import type { Bus } from '../../platform/events/bus.ts';
import type { ChangedTasks } from '../sql/changed-tasks.ts';
import type { ReadTasks } from '../sql/read-tasks.ts';
import type { Task } from '../record/task.entity.ts';
import { TaskFeed } from './task-feed.ts';

const bus = {
  waiting: 0,
  publish() {},
  subscribe: () => () => undefined,
  onReconnect() {},
  isConnected: true,
  start: async () => {},
  stop: async () => {},
} as unknown as Bus;
const ended = (id: string) => ({ id, api_key_id: 'key_1', status: 'failed' }) as Task;

/** Longer than the polling interval. */
const A_POLL_MS = 20_000;

describe('the poll for ends whose event was lost', () => {
  let feed: TaskFeed;

  beforeEach(async () => {
    jest.useFakeTimers();
    const changed = { endedOf: async () => [], endedWithin: async () => ['task_delivered', 'task_missed'] };
    feed = new TaskFeed(
      bus,
      { findStored: async (id: string) => ended(id) } as unknown as ReadTasks,
      changed as unknown as ChangedTasks,
    );
    await feed.onApplicationBootstrap();
  });

  afterEach(async () => {
    await feed.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('delivers them once, without the ends delivered before the watch', async () => {
    feed.publish([ended('task_delivered')]);
    const delivered: string[] = [];
    feed.watchKey('key_1', ({ id }) => delivered.push(id));
    await jest.advanceTimersByTimeAsync(2 * A_POLL_MS);
    expect(delivered).toEqual(['task_missed']);
  });
});
