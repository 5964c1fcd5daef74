import type { TaskView } from '../../tasks/read/task.view.ts';
import { eventBody, eventTypeOf, MAX_BODY_BYTES, taskEventBody } from './event-body.ts';

const at = new Date('2026-11-20T12:00:00.700Z');
const task = (more: object = {}) =>
  ({
    task_id: 'task_1',
    status: 'failed',
    input: { prompt: 'a cat' },
    metadata: { order: '7' },
    ...more,
  }) as unknown as TaskView;
const dataOf = (body: string) => JSON.parse(body).data as Partial<TaskView>;

describe('the body of a webhook', () => {
  it('contains the same time as unix seconds and as a timestamp, and the data as given', () => {
    expect(JSON.parse(eventBody('evt_1', 'webhook.test', { a: 1 }, at))).toEqual({
      id: 'evt_1',
      object: 'event',
      type: 'webhook.test',
      created_at: 1795176000,
      timestamp: '2026-11-20T12:00:00.700Z',
      data: { a: 1 },
    });
  });

  it('is of type task.completed only for a task that succeeded', () => {
    expect(eventTypeOf({ status: 'succeeded' })).toBe('task.completed');
    expect(eventTypeOf({ status: 'failed' })).toBe('task.failed');
  });

  it('contains the whole task up to exactly 20 kB', () => {
    const empty = Buffer.byteLength(taskEventBody('evt_1', task({ input: { prompt: '' } }), at));
    const fits = task({ input: { prompt: 'x'.repeat(MAX_BODY_BYTES - empty) } });
    expect(Buffer.byteLength(taskEventBody('evt_1', fits, at))).toBe(MAX_BODY_BYTES);
    expect(dataOf(taskEventBody('evt_1', fits, at))).toEqual(fits);
    const tooLong = task({ input: { prompt: 'x'.repeat(MAX_BODY_BYTES - empty + 1) } });
    expect(dataOf(taskEventBody('evt_1', tooLong, at))).not.toHaveProperty('input');
    expect(tooLong).toHaveProperty('input'); // the task itself is not changed
  });

  it('counts bytes, not characters', () => {
    const long = task({ input: { prompt: '漢'.repeat(8_000) } });
    const body = taskEventBody('evt_1', long, at);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BODY_BYTES);
    expect(dataOf(body)).toMatchObject({ metadata: { order: '7' } });
  });

  it('leaves out the metadata too when the body would still be too long', () => {
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, nth) => [`k${nth}`, '漢'.repeat(512)]));
    const data = dataOf(taskEventBody('evt_1', task({ metadata }), at));
    expect(data).toEqual({ task_id: 'task_1', status: 'failed' });
  });
});
