import { jest } from '@jest/globals';
import { once } from 'node:events';
import { eventStream } from './send-stream.ts';
import { LiveQueue } from './live-queue.ts';
import type { ShownTask } from '../record/task.entity.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

it('pings a reader after 15 s without an event, and goes on', async () => {
  const queue = new LiveQueue({ read: async () => [] });
  const stream = eventStream(queue.states, ({ id, sequence }) => ({ id: String(sequence), json: id }));
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await jest.advanceTimersByTimeAsync(14_999);
  expect(text).toBe(': open\n\n');
  await jest.advanceTimersByTimeAsync(1);
  expect(text).toBe(': open\n\n: ping\n\n');
  await jest.advanceTimersByTimeAsync(14_000);
  queue.push({ id: 'a', sequence: 1, status: 'running' } as ShownTask);
  await jest.advanceTimersByTimeAsync(14_999);
  expect(text).toBe(': open\n\n: ping\n\nid: 1\ndata: a\n\n');
  await jest.advanceTimersByTimeAsync(1);
  expect(text).toMatch(/: ping\n\n$/);
  queue.states.close();
  await once(stream, 'end');
});
