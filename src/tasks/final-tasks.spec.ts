import type { Bus } from '../platform/events/bus.ts';
import type { DatabaseClock } from './database-clock.ts';
import { charactersOf, FinalTasks } from './final-tasks.ts';
import type { ShownTask } from './task.entity.ts';

const NOW = 1_800_000_000_000;

function cache() {
  const listeners: { deleted?: (ids: string[]) => void; reconnected?: (missedS: number) => void } = {};
  const published: string[] = [];
  const bus = {
    publish: (_topic: string, body: string) => void published.push(body),
    subscribe: (_topic: string, listener: (ids: string[]) => void) => (listeners.deleted = listener),
    onReconnect: (listener: () => void) => void (listeners.reconnected = listener),
  } as unknown as Bus;
  const finals = new FinalTasks(bus, { nowMs: () => NOW } as DatabaseClock);
  finals.onModuleInit();
  return { finals, published, listeners };
}

const task = (more: Partial<ShownTask> = {}): ShownTask =>
  ({ id: 'task_1', status: 'failed', input: {}, metadata: {}, result: null, expires_at: new Date(NOW + 1), ...more }) as ShownTask; // prettier-ignore

describe('the cache of finished tasks', () => {
  it('weighs image URLs and metadata, not only the prompt', () => {
    const reference_images = Array.from({ length: 16 }, () => `https://a.example/${'x'.repeat(2_000)}`);
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, 'v'.repeat(512)]));
    const heavy = { input: { prompt: 'a dot', reference_images }, metadata, result: null };
    expect(charactersOf(heavy)).toBeGreaterThan(16 * 2_000 + 16 * 512);
  });

  it('keeps final tasks only, and none past its expiry', () => {
    const { finals } = cache();
    finals.add(task({ status: 'running' }));
    expect(finals.get('task_1')).toBeUndefined();
    finals.add(task());
    expect(finals.get('task_1')).toMatchObject({ status: 'failed' });
    finals.add(task({ expires_at: new Date(NOW) }));
    expect(finals.get('task_1')).toBeNull();
  });

  it('drops a deleted task here and in other processes, also when a read from before the deletion ends later', () => {
    const [here, there] = [cache(), cache()];
    for (const { finals } of [here, there]) finals.add(task());
    here.finals.drop('task_1');
    expect(here.published).toEqual(['task_1']);
    there.listeners.deleted?.(here.published);
    for (const { finals } of [here, there]) {
      finals.add(task());
      expect(finals.get('task_1')).toBeUndefined();
    }
  });

  it('is empty after the event bus was away: it may have missed a deletion', () => {
    const { finals, listeners } = cache();
    finals.add(task());
    listeners.reconnected?.(5);
    expect(finals.get('task_1')).toBeUndefined();
  });
});
