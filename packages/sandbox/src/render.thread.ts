/**
 * The entry point of a render thread. In development Node runs it by stripping its types, so this file and everything
 * that it imports may contain only erasable TypeScript.
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

// HTTP requests have priority over renders. On Linux the call lowers only the priority of this thread. On other systems
// it would lower the priority of the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

port.on('message', (call: RenderCall) => {
  // Any error but a stop or a bad image is a bug. It is rethrown here, which ends the thread. The pool then fails the
  // job, and starts another thread for the next one.
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

/**
 * Copies the bytes, because memory of sharp cannot be transferred to another thread. The memory of the copy can be
 * transferred without a second copy.
 */
const transferable = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
