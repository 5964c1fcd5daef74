import { DarkroomError, NotFoundError } from './errors.ts';
import { fileAccess } from './file-access.ts';
import { backoffMs, sleep } from './http/retry.ts';
import type { Transport } from './http/transport.ts';
import type { SucceededTask, TaskOutput } from './types.gen.ts';

/** An image or video of a task. If its link no longer works, the client reads a new one. */
export interface Output extends TaskOutput {
  /** The bytes as they arrive. After an interruption the download continues where it stopped. */
  stream(options?: { signal?: AbortSignal }): ReadableStream<Uint8Array<ArrayBuffer>>;
  bytes(options?: { signal?: AbortSignal }): Promise<Uint8Array<ArrayBuffer>>;
  blob(options?: { signal?: AbortSignal }): Promise<Blob>;
  /** Needs a file system. Writes the whole file or nothing, and checks its hash. @returns the path */
  save(path: string, options?: { signal?: AbortSignal }): Promise<string>;
}

/** A task that succeeded, with outputs that can be read. */
export type FinishedTask = SucceededTask & { readonly outputs: readonly Output[] };

/** After this many attempts in a row that deliver nothing, a download ends with an error. */
const MAX_FAILURES = 5;

/** Adds `outputs` as a property that is not enumerable: JSON.stringify then writes the task as the service sent it. */
export function withOutputs(transport: Transport, task: SucceededTask): FinishedTask {
  const outputs = task.result.outputs.map((output) => toOutput(transport, task.task_id, output));
  return Object.defineProperty({ ...task }, 'outputs', { value: outputs }) as unknown as FinishedTask;
}

function toOutput(transport: Transport, taskId: string, output: TaskOutput): Output {
  const open = ({ signal }: { signal?: AbortSignal } = {}) => download(transport, taskId, output, signal);
  const methods = {
    stream: open,
    blob: async (options?: { signal?: AbortSignal }) =>
      new Blob([await methods.bytes(options)], { type: output.content_type }),
    bytes: async (options?: { signal?: AbortSignal }) =>
      new Uint8Array(await new Response(open(options)).arrayBuffer()),
    save: async (path: string, options?: { signal?: AbortSignal }) => {
      const files = fileAccess();
      await files.write(path, open(options), output.sha256);
      return path;
    },
  };
  return Object.defineProperties(
    { ...output } as Output,
    Object.fromEntries(Object.entries(methods).map(([name, value]) => [name, { value }])),
  );
}

/** Downloads an output. After each interruption it continues with the missing bytes. */
function download(
  transport: Transport,
  taskId: string,
  output: TaskOutput,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let { url } = output;
  let received = 0;
  async function* bytes(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let failures = 0; received < output.size_bytes;) {
      if (failures >= MAX_FAILURES) throw new Error('The download does not continue.');
      failures += 1; // reset when bytes arrive
      try {
        const range: Record<string, string> = received > 0 ? { range: `bytes=${received}-` } : {};
        const response = await openLink(range);
        if (received > 0 && response.status !== 206) throw new Error('The download cannot be continued.');
        for await (const chunk of chunksOf(response)) {
          received += chunk.length;
          failures = 0;
          yield chunk;
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof DarkroomError && !error.retryable) throw error;
        if (failures >= MAX_FAILURES) throw error;
        await sleep(backoffMs(failures), signal);
      }
    }
  }
  /**
   * Opens the link. If the link fails, reads a new link and opens it. A link fails once it has expired, or once the
   * service has another address.
   * @throws NotFoundError if the file was deleted
   */
  async function openLink(range: Record<string, string>): Promise<Response> {
    if (url === null) throw expired(output);
    try {
      return await transport.link(url, range, signal);
    } catch (error) {
      if (error instanceof DarkroomError && error.status === 410) throw error;
      const task = await transport.json<SucceededTask>('GET', `/v1/tasks/${taskId}`, { signal });
      url = task.result.outputs[output.index]?.url ?? null;
      if (url === null) throw expired(output);
      return await transport.link(url, range, signal);
    }
  }
  return toStream(bytes());
}

async function* chunksOf(response: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = response.body!.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** Replaces `ReadableStream.from`, which not every runtime has yet. */
function toStream(chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await chunks.return(undefined)),
  });
}

const expired = ({ id }: TaskOutput): NotFoundError =>
  new NotFoundError(`The file ${id} is no longer kept.`, {
    status: 410,
    code: 'file_expired',
    type: 'not_found_error',
    param: null,
    requestId: null,
  });
