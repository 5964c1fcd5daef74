import type { ShownBatch } from '../record/batch.entity.ts';
import { BatchQueue } from './batch-queue.ts';

const batch = (queued: number, running: number, more: object = {}) =>
  ({
    status: 'in_progress',
    queued,
    running,
    succeeded: 3 - queued - running,
    failed: 0,
    cancelled: 0,
    ...more,
  }) as ShownBatch;
const next = async (queue: BatchQueue) => (await queue.states.next()).value;

describe('the queue of a follower of a batch', () => {
  it('sends the first state, unless the follower has it, and of later ones the newest', async () => {
    const queue = new BatchQueue(batch(3, 0), false);
    expect(await next(queue)).toEqual(batch(3, 0));
    queue.push(batch(2, 1));
    queue.push(batch(1, 1));
    expect(await next(queue)).toEqual(batch(1, 1));
    const known = new BatchQueue(batch(3, 0), true);
    const state = next(known);
    known.push(batch(2, 1));
    expect(await state).toEqual(batch(2, 1));
  });

  it('never goes back: a read that is late is ignored, as is the same state', async () => {
    const queue = new BatchQueue(batch(1, 1), true);
    queue.push(batch(2, 1));
    queue.push(batch(1, 2));
    queue.push(batch(1, 1));
    queue.push(batch(0, 0, { status: 'completed' }));
    queue.push(batch(0, 0));
    queue.end();
    expect(await next(queue)).toMatchObject({ status: 'completed' });
    expect(await queue.states.next()).toEqual({ done: true, value: undefined });
  });

  it('ends a pending read when it is closed, and says so once', async () => {
    const queue = new BatchQueue(batch(1, 1), true);
    let closed = 0;
    queue.states.whenClosed(() => (closed += 1));
    const pending = queue.states.next();
    await queue.states.return();
    queue.states.close();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(closed).toBe(1);
  });
});
