import { eventually } from '../../../test/support/wait.ts';
import { taskError } from '../record/task-error.ts';
import type { Task } from '../record/task.entity.ts';
import type { RunMoments } from '../record/moment.ts';
import { TaskQueue } from './task-queue.ts';

type Parts = ConstructorParameters<typeof TaskQueue>;

const lease = { id: 'task_1', attempt: 1, moments: { onHold: () => null } as unknown as RunMoments };
const failed = { status: 'failed', error: taskError('internal_error') } as const;

describe('the queue of tasks', () => {
  const published: string[] = [];
  const wakes: string[][] = [];
  let isHeld: boolean;
  let isKeyLimited: boolean;
  let sharedBy: string[];
  let notified: number;
  let queue: TaskQueue;

  beforeEach(() => {
    published.length = wakes.length = notified = 0;
    isHeld = isKeyLimited = true;
    sharedBy = [];
    const task = (status: string) => ({ id: lease.id, api_key_id: 'key_1', status }) as Task;
    const parts = [
      { claim: async () => ({ tasks: [task('running')], full: false }) },
      { release: async () => (isHeld ? [lease.id] : []) },
      {},
      { record: async () => (isHeld ? task('running') : null) },
      {
        end: async ({ api_key_id }: Task) =>
          isHeld ? { task: { ...task('failed'), api_key_id }, isKeyLimited, sharedBy } : null,
      },
      {},
      {
        wake: async (keys: string[]) => wakes.push(keys),
        wakeShared: async (keys: string[]) => wakes.push(keys.map((key) => `with ${key}`)),
      },
      { hold: async () => (isKeyLimited ? { api_key_id: 'key_1', shared_by: sharedBy } : null) },
      { publish: (tasks: Task[]) => published.push(...tasks.map(({ status }) => status)) },
      { notify: () => (notified += 1) },
      { isOver: () => true },
      {},
      {},
      { started: () => undefined, ended: () => undefined },
      {},
      {},
      { nowMs: () => 0 },
    ];
    queue = new TaskQueue(...(parts as unknown as Parts));
  });

  const end = (api_key_id: string) => queue.end({ id: lease.id, api_key_id, attempt: 1, outcome: failed });

  it('publishes claims, progress and ends', async () => {
    await queue.claim(1, true);
    await queue.recordProgress(lease, 10);
    await end('key_1');
    expect(published).toEqual(['running', 'running', 'failed']);
  });

  it('publishes nothing for a claim that no longer holds', async () => {
    isHeld = false;
    await queue.recordProgress(lease, 10);
    expect(await end('key_1')).toBeNull();
    expect(await queue.release(lease, 0)).toBe(false);
    expect([published, wakes, notified]).toEqual([[], [], 0]);
  });

  it('wakes at once for the first end and batches the ends that follow', async () => {
    await end('key_1');
    for (const key of ['key_2', 'key_3', 'key_2']) await end(key);
    await eventually('the second wake-up', async () => wakes.length > 1);
    expect(wakes).toEqual([['key_1'], ['key_2', 'key_3']]);
    expect(notified).toBe(2);
  });

  it('wakes nothing of an API key without a limit', async () => {
    isKeyLimited = false;
    expect(await end('key_1')).toMatchObject({ status: 'failed' });
    expect(wakes).toEqual([]);
  });

  it('wakes the tasks of all keys that share a limit instead of those of the key alone', async () => {
    sharedBy = ['key_above'];
    await end('key_1');
    expect(wakes).toEqual([['with key_above']]);
    sharedBy = ['key_other'];
    await queue.release(lease, 1);
    await eventually('the second wake-up', async () => wakes.length > 1);
    expect(wakes[1]).toEqual(['with key_other']);
  });

  it('notifies workers of a released task only if they may claim it at once', async () => {
    await queue.release(lease, null);
    expect(notified).toBe(0);
    await queue.release(lease, 0);
    expect(notified).toBe(1);
    expect(wakes).toEqual([]);
  });

  it('lets another task of the key run while one waits for its provider, where it has a limit', async () => {
    await queue.release(lease, 1);
    expect(wakes).toEqual([['key_1']]);
    isKeyLimited = false;
    await queue.release(lease, 1);
    expect(wakes).toHaveLength(1);
  });
});
