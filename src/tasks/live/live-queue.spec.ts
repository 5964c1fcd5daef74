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

  it('ends without an error when it is closed while it reads', async () => {
    const queue: LiveQueue = new LiveQueue({
      read: async () => {
        queue.states.close();
        throw new Error('aborted');
      },
    });
    queue.pushUnfinished(['a']);
    expect(await next(queue)).toBe('end');
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

  it('sends the end of a task that was queued unfinished after the ends that wait already', async () => {
    const queue = new LiveQueue({ read: async (ids) => ids.map((id) => task(id, 5, 'succeeded')) });
    queue.pushUnfinished(['a']);
    queue.push(task('earlier', 1, 'succeeded'));
    expect([await next(queue), await next(queue)]).toEqual(['earlier:1', 'a:5']);
  });
});

describe('a live queue that catches up', () => {
  const end = (id: string, endedMs: number) => ({ ...task(id, 2, 'succeeded'), completed_at: new Date(endedMs) });
  const queueOf = () =>
    new LiveQueue({ read: async (ids) => ids.map((id) => task(id, 2, id.startsWith('run') ? 'running' : 'failed')) });
  /** Pages of ends, which are named after their time in seconds. `read` is called with each page before it is given. */
  async function* pagesOf(pages: number[][], read?: (nth: number) => void) {
    for (const [nth, page] of pages.entries()) {
      read?.(nth);
      yield page.map((at) => ({ id: `end_${at}`, at }));
    }
  }
  const unfinished = async function* () {
    yield ['run_1'];
  };
  async function untilUnfinished(queue: LiveQueue): Promise<string[]> {
    const sent: string[] = [];
    while (sent.at(-1) !== 'run_1:2') sent.push(await next(queue));
    return sent;
  }

  it('reads a page when the one before was sent', async () => {
    const reads: number[] = [];
    const queue = queueOf();
    await queue.catchUp(
      pagesOf([[1, 2], [3]], (nth) => reads.push(nth)),
      unfinished(),
    );
    expect([await next(queue), await next(queue), reads]).toEqual(['end_1:2', 'end_2:2', [0]]);
    expect([await next(queue), await next(queue), reads]).toEqual(['end_3:2', 'run_1:2', [0, 1]]);
  });

  it('sends what ends meanwhile after the missed ends, and once', async () => {
    const queue = queueOf();
    await queue.catchUp(pagesOf([[1, 2], [3]]), unfinished());
    queue.push(end('end_2', 2_000)); // waits already
    queue.push(end('end_3', 3_000)); // is in the next page
    queue.push(end('end_9', 9_000));
    queue.push(task('run_1', 1)); // an older state than that which will be read
    expect(await untilUnfinished(queue)).toEqual(['end_1:2', 'end_2:2', 'end_3:2', 'end_9:2', 'run_1:2']);
  });

  it('sends an end that became visible after the page with its time was read before the next page', async () => {
    const queue = queueOf();
    await queue.catchUp(pagesOf([[10, 20], [30]]), unfinished());
    queue.push(end('late', 15_000));
    expect(await untilUnfinished(queue)).toEqual(['end_10:2', 'end_20:2', 'late:2', 'end_30:2', 'run_1:2']);
  });

  it('gets the task that is created while the unfinished ones are read', async () => {
    const queue = queueOf();
    const unfinishedThenCreated = async function* () {
      yield ['run_1'];
      queue.push(task('run_2', 1));
    };
    await queue.catchUp(pagesOf([[]]), unfinishedThenCreated());
    expect([await next(queue), await next(queue)]).toEqual(['run_1:2', 'run_2:1']);
  });

  it('ends when a page cannot be read, and when too much ends meanwhile', async () => {
    const torn = queueOf();
    await torn.catchUp(
      pagesOf([[1], [2]], (nth) => {
        if (nth === 1) throw new Error('away');
      }),
      unfinished(),
    );
    expect(await next(torn)).toBe('end_1:2');
    await expect(torn.states.next()).rejects.toThrow('away');
    const behind = queueOf();
    await behind.catchUp(pagesOf([[1]]), unfinished());
    for (let at = 0; at <= 50_000; at++) behind.push(end(`task_${at}`, at));
    await expect(behind.states.next()).rejects.toThrow('not read');
    expect([await next(torn), await next(behind), behind.size]).toEqual(['end', 'end', 0]);
  });
});

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
