import { Readable } from 'node:stream';
import type { LiveQueue } from './live-queue.ts';
import type { ShownTask } from '../task.entity.ts';

/** Contract 3. */
const PING_MS = 15_000;

/** How one task goes over the wire: its `id:` and its JSON. */
export interface Shown {
  id: string;
  json: string;
}

/**
 * Turns a queue into the bytes of a text/event-stream. It is read no faster than the client reads, one event ahead, so
 * that whatever else happens is merged in the queue.
 */
export function eventStream(queue: LiveQueue, show: (task: ShownTask) => Shown): Readable {
  const stream = Readable.from(events(queue, show), { objectMode: false, highWaterMark: 1 });
  stream.once('close', () => queue.close());
  return stream;
}

async function* events(queue: LiveQueue, show: (task: ShownTask) => Shown): AsyncGenerator<string> {
  yield ': open\n\n'; // so that the headers go out at once
  let next = queue.next();
  for (;;) {
    const news = await withinPing(next);
    if (news === 'quiet') yield ': ping\n\n';
    else if (news.done) return;
    else {
      const { id, json } = show(news.value);
      yield `id: ${id}\ndata: ${json}\n\n`;
      next = queue.next();
    }
  }
}

async function withinPing<T>(next: Promise<T>): Promise<T | 'quiet'> {
  const quiet = Promise.withResolvers<'quiet'>();
  const timer = setTimeout(() => quiet.resolve('quiet'), PING_MS);
  try {
    return await Promise.race([next, quiet.promise]);
  } finally {
    clearTimeout(timer);
  }
}
