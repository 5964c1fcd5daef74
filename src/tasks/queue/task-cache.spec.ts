import type { Bus } from '../../platform/events/bus.ts';
import type { DatabaseClock } from './database-clock.ts';
import { charactersOf, TaskCache } from './task-cache.ts';
import type { ShownTask } from '../record/task.entity.ts';

const NOW = 1_800_000_000_000;

function cache() {
  const listeners: { deleted?: (ids: string[]) => void; reconnected?: (missedS: number) => void } = {};
  const published: string[] = [];
  const bus = {
    publish: (_topic: string, body: string) => void published.push(body),
    subscribe: (_topic: string, listener: (ids: string[]) => void) => (listeners.deleted = listener),
    onReconnect: (listener: () => void) => void (listeners.reconnected = listener),
  } as unknown as Bus;
  const tasks = new TaskCache(bus, { nowMs: () => NOW } as DatabaseClock);
  tasks.onModuleInit();
  return { tasks, published, listeners };
}

const FINAL = {
  id: 'task_1',
  status: 'failed',
  sequence: 7,
  input: {},
  metadata: {},
  result: null,
  expires_at: new Date(NOW + 1),
};
const task = (more: Partial<ShownTask> = {}): ShownTask => ({ ...FINAL, ...more }) as ShownTask;

describe('the cache of tasks', () => {
  it('weighs image URLs and metadata, not only the prompt', () => {
    const reference_images = Array.from({ length: 16 }, () => `https://a.example/${'x'.repeat(2_000)}`);
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, 'v'.repeat(512)]));
    const heavy = { input: { prompt: 'a dot', reference_images }, metadata, result: null };
    expect(charactersOf(heavy)).toBeGreaterThan(16 * 2_000 + 16 * 512);
  });

  it('gives by its id a final task only, and none past its expiry', () => {
    const { tasks } = cache();
    tasks.add(task({ status: 'queued' }));
    expect(tasks.final('task_1')).toBeUndefined();
    tasks.add(task());
    expect(tasks.final('task_1')).toMatchObject({ status: 'failed' });
    tasks.add(task({ expires_at: new Date(NOW) }));
    expect(tasks.final('task_1')).toBeNull();
  });

  it('gives a task with the sequence that it has, and with no other, and no running one', () => {
    const { tasks } = cache();
    tasks.add(task({ status: 'running' }));
    expect(tasks.ofSequence('task_1', 7)).toBeUndefined();
    tasks.add(task({ status: 'queued', sequence: 6 }));
    expect(tasks.ofSequence('task_1', 6)).toMatchObject({ status: 'queued' });
    tasks.add(task());
    expect(tasks.ofSequence('task_1', 7)).toMatchObject({ status: 'failed' });
    expect(tasks.ofSequence('task_1', 8)).toBeUndefined();
    tasks.add(task({ sequence: 8 }));
    expect(tasks.ofSequence('task_1', 7)).toBeUndefined();
    expect(tasks.ofSequence('task_1', 8)).toMatchObject({ sequence: 8 });
    expect(tasks.ofSequence('task_2', 8)).toBeUndefined();
  });

  it('drops a deleted task here and in other processes, also when a read from before the deletion ends later', () => {
    const [here, there] = [cache(), cache()];
    for (const { tasks } of [here, there]) tasks.add(task());
    here.tasks.drop('task_1');
    expect(here.published).toEqual(['task_1']);
    there.listeners.deleted?.(here.published);
    for (const { tasks } of [here, there]) {
      tasks.add(task());
      expect(tasks.final('task_1')).toBeUndefined();
    }
  });

  it('is empty after the event bus was away: it may have missed a deletion', () => {
    const { tasks, listeners } = cache();
    tasks.add(task());
    listeners.reconnected?.(5);
    expect(tasks.final('task_1')).toBeUndefined();
  });
});
