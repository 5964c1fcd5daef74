import { jest } from '@jest/globals';
import { ConnectionError, NotFoundError } from './errors.ts';
import { follow } from './follow.ts';

interface State {
  progress: number;
}

const event = (progress: number) => `id: ${progress}\ndata: {"progress":${progress}}\n\n`;
const reset = () => new ConnectionError('The connection was reset.', null);

/** A stream that ends with a broken connection after these texts. */
function cutAfter(...texts: string[]): Response {
  const left = texts.map((text) => new TextEncoder().encode(text));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      if (next) controller.enqueue(next);
      else controller.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

describe('following behind a proxy', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** @returns the states, and what was asked: `stream`, `stream 40` resumed there, `read`, or `wait` for a read that waits */
  async function followed(open: (resume: string | null) => Promise<Response>, read: () => Promise<State>) {
    const asked: string[] = [];
    const transport = {
      open: async (_method: string, _path: string, { headers }: { headers: Record<string, string> }) => {
        const resume = headers['last-event-id'] ?? null;
        asked.push(resume === null ? 'stream' : `stream ${resume}`);
        return open(resume);
      },
    };
    const states: number[] = [];
    const what = {
      id: 'task_1',
      events: '/events',
      isFinal: ({ progress }: State) => progress === 100,
      read: async (_signal: unknown, waits: boolean) => {
        asked.push(waits ? 'wait' : 'read');
        return read();
      },
    };
    const done = (async () => {
      for await (const { progress } of follow<State>(transport as never, what)) states.push(progress);
    })();
    const over = new AbortController();
    void done.finally(() => over.abort()).catch(() => undefined);
    while (!over.signal.aborted) await jest.advanceTimersByTimeAsync(1_000);
    await done;
    return { states, asked };
  }

  it('a resumed stream may be silent until the next change', async () => {
    let send = () => undefined as void;
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => void (send = () => controller.enqueue(new TextEncoder().encode(event(100)))),
    });
    const over = followed(
      async (resume) => new Response(resume === null ? event(20) : silent),
      async () => ({ progress: 100 }),
    );
    await jest.advanceTimersByTimeAsync(20_000);
    send();
    const { states, asked } = await over;
    expect(asked).toEqual(['stream', 'stream 20']);
    expect(states).toEqual([20, 100]);
  });

  it('resumes a stream of all tasks that broke before its first event', async () => {
    const asked: (string | undefined)[] = [];
    const transport = {
      open: async (_method: string, _path: string, { headers }: { headers: Record<string, string> }) => {
        asked.push(headers['last-event-id']);
        return asked.length === 1 ? cutAfter(': open\nid: 7\n\n') : cutAfter(event(100));
      },
    };
    const all = { id: 'all', events: '/events', isFinal: ({ progress }: State) => progress === 100, read: null };
    const states = follow<State>(transport as never, all);
    const first = states.next();
    await jest.advanceTimersByTimeAsync(10_000);
    expect((await first).value).toEqual({ progress: 100 });
    expect(asked).toEqual([undefined, '7']);
  });

  it('that resets streams goes on by reads', async () => {
    let progress = 0;
    const read = async () => ({ progress: (progress += 25) });
    const { states, asked } = await followed(() => Promise.reject(reset()), read);
    expect(asked).toEqual(['stream', 'read', 'stream', 'wait', 'wait', 'wait']);
    expect(states).toEqual([25, 50, 75, 100]);
  });

  it('that refuses streams goes on by reads', async () => {
    const refusal = { status: 404, code: 'unknown', type: 'unknown', param: null, requestId: null };
    const open = () => Promise.reject(new NotFoundError('Not Found', refusal));
    const { asked } = await followed(open, async () => ({ progress: 100 }));
    expect(asked).toEqual(['stream', 'wait']);
    const gone = async () => Promise.reject(new NotFoundError('There is no such task.', refusal));
    await expect(followed(open, gone)).rejects.toThrow('There is no such task.');
  });

  it('that cuts streams after each event reaches the end, and never goes back', async () => {
    let progress = 0;
    const next = () => (progress += 20);
    const { states, asked } = await followed(
      async () => cutAfter(event(next())),
      async () => ({ progress: next() }),
    );
    expect(states).toEqual([20, 40, 60, 80, 100]);
    expect(asked).toEqual(['stream', 'read', 'stream 20', 'read', 'stream 60']);
  });

  it('and a service that is away for a while is asked for streams again', async () => {
    let tries = 0;
    const away = () => ((tries += 1) <= 7 ? Promise.reject(reset()) : Promise.resolve());
    const { states, asked } = await followed(
      async () => away().then(() => cutAfter(event(100))),
      () => away().then(() => ({ progress: 50 })),
    );
    expect(asked).toEqual(['stream', 'read', 'stream', 'read', 'stream', 'read', 'stream', 'read', 'stream']);
    expect(states).toEqual([50, 100]);
  });

  it('and one that is away for over five minutes is given up', async () => {
    const away = () => Promise.reject(reset());
    await expect(followed(away, away)).rejects.toBeInstanceOf(ConnectionError);
  });
});
