import type { Bus } from '../../platform/events/bus.ts';
import type { DatabaseClock } from './database-clock.ts';
import { charactersOf, TaskCache } from './task-cache.ts';
import type { TaskVersion } from '../record/task-version.ts';
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

const task = (more: Partial<ShownTask> = {}, version = '7'): TaskVersion => {
  const row = { id: 'task_1', status: 'failed', input: {}, metadata: {}, result: null, expires_at: new Date(NOW + 1) };
  return { task: { ...row, ...more } as ShownTask, version };
};

describe('the cache of tasks', () => {
  it('weighs image URLs and metadata, not only the prompt', () => {
    const reference_images = Array.from({ length: 16 }, () => `https://a.example/${'x'.repeat(2_000)}`);
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, 'v'.repeat(512)]));
    const heavy = { input: { prompt: 'a dot', reference_images }, metadata, result: null };
    expect(charactersOf(heavy)).toBeGreaterThan(16 * 2_000 + 16 * 512);
  });

  it('gives by its id a final task only, and none past its expiry', () => {
    const { tasks } = cache();
    tasks.add(task({ status: 'running' }));
    expect(tasks.final('task_1')).toBeUndefined();
    tasks.add(task());
    expect(tasks.final('task_1')).toMatchObject({ status: 'failed' });
    tasks.add(task({ expires_at: new Date(NOW) }));
    expect(tasks.final('task_1')).toBeNull();
  });

  it('gives any task in the version that it has, and in no other', () => {
    const { tasks } = cache();
    tasks.add(task({ status: 'running', progress: 10 }));
    expect(tasks.ofVersion('task_1', '7')).toMatchObject({ progress: 10 });
    expect(tasks.ofVersion('task_1', '8')).toBeUndefined();
    tasks.add(task({ status: 'running', progress: 20 }, '8'));
    expect(tasks.ofVersion('task_1', '7')).toBeUndefined();
    expect(tasks.ofVersion('task_1', '8')).toMatchObject({ progress: 20 });
    expect(tasks.ofVersion('task_2', '8')).toBeUndefined();
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
