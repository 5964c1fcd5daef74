/**
 * The entry point of a render thread. In development Node runs it by type stripping, so this file and everything it
 * imports must hold erasable TypeScript only.
 */
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { renderFilm } from './film.ts';
import { renderPictures } from './picture.ts';
import { RenderControl } from './render-control.ts';
import { RenderStopped, UndecodableImage } from './render-errors.ts';
import type { RenderCall, RenderMessage } from './render-order.ts';

const port = parentPort;
if (!port) throw new Error('render.thread must be started by the render pool');

// HTTP requests have priority over renders. Linux sets this thread's priority; other systems would lower the whole
// process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

port.on('message', (call: RenderCall) => {
  // Any error but a stop or a bad image is a bug: rethrown here it ends the thread, and the pool fails the task and
  // starts another.
  void render(call).then(
    (message) =>
      port.postMessage(
        message,
        message.type === 'done' ? message.pictures.map(({ buffer }) => buffer as ArrayBuffer) : [],
      ),
    (error: unknown) => setImmediate(() => { throw error; }), // prettier-ignore
  );
});

async function render({ order, stop }: RenderCall): Promise<RenderMessage> {
  const control = new RenderControl(stop, (share) =>
    port?.postMessage({ type: 'progress', share } satisfies RenderMessage),
  );
  try {
    if (order.kind === 'pictures') {
      return { type: 'done', pictures: (await renderPictures(order, control, sendPartial)).map(transferable) };
    }
    await renderFilm(order, control);
    return { type: 'done', pictures: [] };
  } catch (error) {
    if (error instanceof RenderStopped) return { type: 'stopped' };
    if (error instanceof UndecodableImage)
      return { type: 'bad-image', param: error.param, message: String(error.cause) };
    throw error;
  }
}

function sendPartial(png: Uint8Array): void {
  const picture = transferable(png);
  port?.postMessage({ type: 'partial', picture } satisfies RenderMessage, [picture.buffer as ArrayBuffer]);
}

/** Memory of sharp cannot be transferred to another thread. A copy can, and is not copied again there. */
const transferable = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
