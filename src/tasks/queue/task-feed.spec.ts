import { jest } from '@jest/globals';
import type { Bus } from '../../platform/events/bus.ts';
import type { ChangedTasks } from '../sql/changed-tasks.ts';
import type { ReadTasks } from '../sql/read-tasks.ts';
import type { Task } from '../record/task.entity.ts';
import { TaskFeed } from './task-feed.ts';

let arrive = (_bodies: string[]): void => undefined;
const bus = {
  waiting: 0,
  publish() {},
  subscribe: (_topic: string, listener: typeof arrive) => (arrive = listener),
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
  /** How far back each poll has looked for the ends of keys, in seconds. */
  let backs: number[];
  let readsFail: boolean;

  beforeEach(async () => {
    jest.useFakeTimers();
    [backs, readsFail] = [[], false];
    const endedOfKeys = async function* (_keys: string[], sinceMs: number) {
      backs.push(Math.round(-sinceMs / 1_000));
      yield [{ id: 'task_delivered', at: 1 }];
      yield [{ id: 'task_missed', at: 2 }];
    };
    const changed = { endedOf: async () => [], endedOfKeys, nowMs: async () => 0 };
    const findStored = async (id: string) => {
      if (readsFail) throw new Error('the database is away');
      return ended(id);
    };
    feed = new TaskFeed(bus, { findStored } as unknown as ReadTasks, changed as unknown as ChangedTasks);
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

  it('delivers none whose event arrived before the watch', async () => {
    arrive(['task_delivered key_1 end', 'task_missed key_1']); // of the other, only an earlier event
    const delivered: string[] = [];
    feed.watchKey('key_1', ({ id }) => delivered.push(id));
    await jest.advanceTimersByTimeAsync(2 * A_POLL_MS);
    expect(delivered).toEqual(['task_missed']);
  });

  it('looks back to the last poll that delivered all', async () => {
    const delivered: string[] = [];
    feed.watchKey('key_1', ({ id }) => delivered.push(id));
    readsFail = true;
    await jest.advanceTimersByTimeAsync(5 * A_POLL_MS);
    expect(backs.length).toBeGreaterThanOrEqual(5);
    expect(backs.at(-1)).toBeGreaterThanOrEqual(4 * 12 + 25);
    expect(delivered).toEqual([]);
    readsFail = false;
    await jest.advanceTimersByTimeAsync(2 * A_POLL_MS);
    expect(delivered).toEqual(['task_delivered', 'task_missed']);
    expect(backs.at(-1)).toBeLessThanOrEqual(15 + 25);
  });
});
