import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LiveQueue } from './live-queue.ts';
import type { ShownTask, TaskStatus } from '../record/task.entity.ts';

const task = (id: string, sequence: number, status: TaskStatus = 'running') => ({ id, sequence, status }) as ShownTask;
const nothing = async () => [];
const textOf = (result: IteratorResult<ShownTask, undefined>) =>
  result.done ? 'end' : `${result.value.id}:${result.value.sequence}`;
async function next(queue: LiveQueue): Promise<string> {
  return textOf(await queue.states.next());
}

describe('a live queue', () => {
  it('gives a slow subscriber only the latest state of each task', async () => {
    const queue = new LiveQueue({ read: nothing });
    for (let sequence = 1; sequence <= 10_000; sequence++) {
      queue.push(task('a', sequence));
      queue.push(task('b', sequence));
    }
    expect(queue.size).toBe(2);
    expect([await next(queue), await next(queue)]).toEqual(['a:10000', 'b:10000']);
  });

  it('sends the ends that a resume has missed before those that arrived since', async () => {
    const queue = new LiveQueue({ read: async (ids) => ids.map((id) => task(id, 1, 'succeeded')) });
    queue.push(task('newer', 1, 'succeeded'));
    queue.push(task('both', 2, 'succeeded'));
    queue.pushMissed(['missed', 'both']);
    expect([await next(queue), await next(queue), await next(queue)]).toEqual(['missed:1', 'both:2', 'newer:1']);
  });

  it('gives one state in a turn of the event loop, so that other work goes on', async () => {
    const queue = new LiveQueue({ read: nothing });
    queue.push(task('a', 1));
    queue.push(task('b', 1));
    let othersHadTurn = false;
    setImmediate(() => (othersHadTurn = true));
    await next(queue);
    expect(othersHadTurn).toBe(false);
    await next(queue);
    expect(othersHadTurn).toBe(true);
  });

  it('sends the state that a task has after the wait for its turn', async () => {
    const turn = Promise.withResolvers<void>();
    const queue = new LiveQueue({ read: nothing, pace: () => turn.promise });
    queue.push(task('a', 1));
    const first = next(queue);
    queue.push(task('a', 2));
    turn.resolve();
    expect(await first).toBe('a:2');
  });

  it('ends in the middle of a wait for a turn', async () => {
    const asked = Promise.withResolvers<void>();
    const queue = new LiveQueue({
      read: nothing,
      pace: (_task, closed) => {
        asked.resolve();
        return new Promise((resolve) => closed.addEventListener('abort', () => resolve()));
      },
    });
    queue.push(task('a', 1));
    const first = next(queue);
    await asked.promise;
    queue.states.close();
    expect(await first).toBe('end');
  });

  it('never goes back: states older than one sent or queued are ignored', async () => {
    const queue = new LiveQueue({ read: nothing });
    queue.push(task('a', 5));
    queue.push(task('a', 4));
    expect(await next(queue)).toBe('a:5');
    queue.push(task('a', 5));
    queue.push(task('a', 3, 'failed'));
    queue.push(task('b', 1));
    expect(await next(queue)).toBe('b:1');
  });

  it('sends final states in the order of arrival, whatever was queued before', async () => {
    const queue = new LiveQueue({ read: nothing });
    queue.push(task('a', 1));
    queue.push(task('b', 2, 'succeeded'));
    queue.push(task('a', 2, 'failed'));
    expect([await next(queue), await next(queue)]).toEqual(['b:2', 'a:2']);
  });

  it('wakes a waiting subscriber', async () => {
    const queue = new LiveQueue({ read: nothing });
    const waiting = next(queue);
    queue.push(task('a', 1));
    expect(await waiting).toBe('a:1');
  });

  it('ends after the final state when it follows one task', async () => {
    const queue = new LiveQueue({ read: nothing, endsWithTask: true });
    queue.push(task('a', 2, 'succeeded'));
    queue.push(task('a', 3, 'succeeded'));
    expect(await next(queue)).toBe('a:3');
    expect(await next(queue)).toBe('end');
  });

  it('ends a pending read when it is returned, and calls its close callbacks once', async () => {
    const queue = new LiveQueue({ read: nothing });
    let closed = 0;
    queue.states.whenClosed(() => closed++);
    const waiting = next(queue);
    await queue.states.return();
    await queue.states.return();
    expect(await waiting).toBe('end');
    expect(closed).toBe(1);
    queue.push(task('a', 1));
    expect(await next(queue)).toBe('end');
    expect(queue.size).toBe(0);
  });

  it('reads tasks queued by id only when they are due, many at once, and leaves out deleted ones', async () => {
    const reads: number[] = [];
    const queue = new LiveQueue({
      read: async (ids) => {
        reads.push(ids.length);
        return ids.filter((id) => id !== 'task_7').map((id) => task(id, 3));
      },
    });
    queue.pushUnfinished(Array.from({ length: 250 }, (_, at) => `task_${at}`));
    queue.push(task('late', 1));
    const seen: string[] = [];
    for (let at = 0; at < 250; at++) seen.push(await next(queue));
    expect(reads).toEqual([100, 100, 50]);
    expect(seen).not.toContain('task_7:3');
    expect(seen.at(-1)).toBe('late:1');
  });

  it('prefers a state that is pushed while it reads', async () => {
    const queue: LiveQueue = new LiveQueue({
      read: async () => {
        queue.push(task('a', 9, 'succeeded'));
        return [task('a', 8)];
      },
    });
    queue.pushUnfinished(['a']);
    expect(await next(queue)).toBe('a:9');
    queue.push(task('b', 1));
    expect(await next(queue)).toBe('b:1');
  });

  it('keeps every final state for a subscriber that reads nothing, in little memory', async () => {
    const stored = new Map<string, ShownTask>();
    const queue = new LiveQueue({ read: async (ids) => ids.map((id) => stored.get(id)!) });
    const idOf = (at: number) => `task_${String(at).padStart(26, '0')}`;
    const before = heapBytes();
    for (let at = 0; at < 10_000; at++) {
      queue.push({ ...task(idOf(at), 1), input: { prompt: 'x'.repeat(2_000) + at } } as ShownTask);
      queue.push({ ...task(idOf(at), 2, 'succeeded'), input: { prompt: 'x'.repeat(2_000) + at } } as ShownTask);
    }
    expect(queue.size).toBe(10_000);
    expect(heapBytes() - before).toBeLessThan(10 * 1024 * 1024);
    for (let at = 0; at < 10_000; at++) stored.set(idOf(at), task(idOf(at), 2, 'succeeded'));
    for (let at = 0; at < 10_000; at++) expect(await next(queue)).toBe(`${idOf(at)}:2`);
  });

  it('disconnects a subscriber that is 50,000 final states behind', async () => {
    const queue = new LiveQueue({ read: nothing });
    for (let at = 0; at <= 50_000; at++) queue.push(task(`task_${at}`, 1, 'failed'));
    await expect(queue.states.next()).rejects.toThrow('not read');
    expect(await next(queue)).toBe('end');
  });

  it('leaves out tasks outside the filter, also those that leave it', async () => {
    const queue = new LiveQueue({ read: nothing, accepts: ({ status }) => status === 'running' });
    queue.push(task('a', 1));
    queue.push(task('a', 2, 'succeeded'));
    queue.push(task('b', 1));
    expect(await next(queue)).toBe('b:1');
  });

  it('skips states that were sent before', async () => {
    const queue = new LiveQueue({ read: async () => [task('b', 7)] });
    queue.skip('a', 4);
    queue.push(task('a', 4));
    queue.pushUnfinished(['b']);
    expect(await next(queue)).toBe('b:7');
  });

  it('sends only what a resume has missed, and ends, if that is not all', async () => {
    const queue = new LiveQueue({ read: async (ids) => ids.map((id) => task(id, 1, 'succeeded')) });
    queue.push(task('newer', 1, 'succeeded'));
    queue.sendOnly(['missed']);
    queue.push(task('newest', 1, 'succeeded'));
    expect([await next(queue), await next(queue)]).toEqual(['missed:1', 'end']);
  });

  it('sends the end of a task that was queued unfinished after the ends that wait already', async () => {
    const queue = new LiveQueue({ read: async (ids) => ids.map((id) => task(id, 5, 'succeeded')) });
    queue.pushUnfinished(['a']);
    queue.push(task('earlier', 1, 'succeeded'));
    expect([await next(queue), await next(queue)]).toEqual(['earlier:1', 'a:5']);
  });

  it('does not send an older state of a task whose end a resume has missed', async () => {
    const queue = new LiveQueue({ read: async (ids) => ids.map((id) => task(id, 5, 'succeeded')) });
    queue.push(task('a', 4));
    queue.pushMissed(['a']);
    expect([await next(queue), queue.size]).toEqual(['a:5', 0]);
  });
});

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
