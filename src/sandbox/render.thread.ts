/** Runs in a worker thread, and by type stripping in development: this file and all it imports hold erasable TypeScript only. */
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { renderFilm } from './film.ts';
import { renderPictures } from './picture.ts';
import type { RenderCall, RenderNews } from './render-order.ts';
import { Stopped, UndecodableImage, Watch } from './render-watch.ts';

const port = parentPort;
if (!port) throw new Error('render.thread is started by the render pool');

// Requests go before renders. On Linux this is the priority of this thread; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

port.on('message', (call: RenderCall) => {
  // Anything but a stop or a bad image is our fault: thrown here it ends the thread, and the pool fails the task and starts another.
  void render(call).then(
    (news) =>
      port.postMessage(news, news.type === 'done' ? news.pictures.map(({ buffer }) => buffer as ArrayBuffer) : []),
    (error: unknown) => setImmediate(() => { throw error; }), // prettier-ignore
  );
});

async function render({ order, stop }: RenderCall): Promise<RenderNews> {
  const watch = new Watch(stop, (share) => port?.postMessage({ type: 'progress', share } satisfies RenderNews));
  try {
    if (order.kind === 'pictures') return { type: 'done', pictures: (await renderPictures(order, watch)).map(movable) };
    await renderFilm(order, watch);
    return { type: 'done', pictures: [] };
  } catch (error) {
    if (error instanceof Stopped) return { type: 'stopped' };
    if (error instanceof UndecodableImage)
      return { type: 'bad-image', param: error.param, message: String(error.cause) };
    throw error;
  }
}

/** sharp's memory cannot be handed over to another thread; a copy can, without a second copy there. */
const movable = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
