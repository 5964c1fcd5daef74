import type { StreamPace } from './stream-pace.ts';
import type { ChangedTasks } from '../sql/changed-tasks.ts';
import type { ShownTask, TaskStatus } from '../record/task.entity.ts';
import type { CachedTasks } from '../queue/task-cache.ts';
import { Backlog } from './backlog.ts';
import { FollowTasks } from './follow.ts';
import type { TaskFeed } from '../queue/task-feed.ts';

const task = (sequence: number, status: TaskStatus) =>
  ({ id: 'a', sequence, status, created_at: new Date(0) }) as ShownTask;

/** Follows while `meanwhile` happens to the task: during the read of its current state. */
function following(meanwhile: (publish: (task: ShownTask) => void) => void) {
  const watching = new Set<(task: ShownTask) => void>();
  const publish = (changed: ShownTask) => watching.forEach((notify) => notify(changed));
  const watch = (_id: string, notify: (task: ShownTask) => void) => {
    watching.add(notify);
    return () => watching.delete(notify);
  };
  const current = async () => {
    meanwhile(publish);
    return task(1, 'queued'); // as it was read before the change
  };
  const follow = new FollowTasks(
    { watch, watchKey: watch } as unknown as TaskFeed,
    { findOfKey: current, findMany: async () => [task(2, 'failed')] } as unknown as CachedTasks,
    {
      unfinished: async function* () {
        yield [(await current()).id];
      },
    } as unknown as ChangedTasks,
    { add: () => undefined } as unknown as Backlog,
    { turnOf: () => null } as unknown as StreamPace,
  );
  return { follow, watching };
}

describe('a resume', () => {
  const end = (id: string) => ({ ...task(2, 'succeeded'), id, completed_at: new Date(9_000) });

  it('sends the ends that it has missed, but not those that it knows, before those that arrive meanwhile', async () => {
    let publish = (_task: ShownTask): void => undefined;
    const endedSince = async function* () {
      publish(end('newer'));
      yield ['missed_1', 'known', 'missed_2'].map((id, at) => ({ id, at }));
    };
    const unfinished = async function* () {
      yield ['unfinished'];
    };
    const follow = new FollowTasks(
      { watchKey: (_key: string, watcher: typeof publish) => (publish = watcher) } as unknown as TaskFeed,
      { findMany: async (ids: string[]) => ids.map(end) } as unknown as CachedTasks,
      { endedSince, unfinished } as unknown as ChangedTasks,
      { add: () => undefined } as unknown as Backlog,
      { turnOf: () => null } as unknown as StreamPace,
    );
    const sent: string[] = [];
    const isKnown = (id: string) => id === 'known';
    for await (const { id } of await follow.followAll('key', { endedSinceMs: 0, isKnown })) {
      sent.push(id);
      if (id === 'unfinished') break;
    }
    expect(sent).toEqual(['missed_1', 'missed_2', 'newer', 'unfinished']);
  });
});

it('reads for one stream of a key at a time, so that the reads of other keys do not wait', async () => {
  const reads: string[] = [];
  const ended = Promise.withResolvers<void>();
  const unfinished = async function* ([key]: string[]) {
    yield [`of_${key}`];
  };
  const findMany = async ([id]: string[]) => {
    reads.push(id!);
    await ended.promise;
    return [{ ...task(1, 'running'), id: id! }];
  };
  const follow = new FollowTasks(
    { watchKey: () => () => undefined } as unknown as TaskFeed,
    { findMany } as unknown as CachedTasks,
    { unfinished } as unknown as ChangedTasks,
    { add: () => undefined } as unknown as Backlog,
    { turnOf: () => null } as unknown as StreamPace,
  );
  const queues = await Promise.all(['a', 'a', 'a', 'b'].map((key) => follow.followAll(key)));
  const firsts = queues.map((queue) => queue.next());
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toEqual(['of_a', 'of_b']);
  ended.resolve();
  await Promise.all(firsts);
  expect(reads).toEqual(['of_a', 'of_b', 'of_a', 'of_a']);
});

describe('a task that ends while it begins to be followed', () => {
  it('is sent in its end, and the queue ends', async () => {
    const { follow } = following((publish) => publish(task(2, 'failed')));
    const states: ShownTask[] = [];
    for await (const state of await follow.follow('key', 'a')) states.push(state);
    expect(states).toEqual([task(2, 'failed')]);
  });

  it('is sent once to a follower of all tasks', async () => {
    const { follow } = following((publish) => publish(task(2, 'failed')));
    const queue = await follow.followAll('key');
    expect(await queue.next()).toEqual({ done: false, value: task(2, 'failed') });
    let more = false;
    void queue.next().then(({ done }) => (more = !done));
    await new Promise((resolve) => setImmediate(resolve));
    expect(more).toBe(false);
    queue.close();
  });

  it('is watched no longer when the read fails', async () => {
    const { follow, watching } = following(() => {
      throw new Error('away');
    });
    await expect(follow.follow('key', 'a')).rejects.toThrow('away');
    await expect(follow.followAll('key')).rejects.toThrow('away');
    expect(watching.size).toBe(0);
  });
});
