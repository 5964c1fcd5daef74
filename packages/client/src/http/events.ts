/** One server-sent event. */
export interface ServerEvent {
  id: string | null;
  /** Null: the event only has an id, from which a stream resumes. */
  data: string | null;
}

/** The service sends a ping every 15 s. After two missing pings the connection counts as dead. */
const SILENCE_MS = 35_000;

/**
 * Reads server-sent events until the stream ends.
 * @param firstMs how long the stream may be silent before its first event. A proxy that buffers the stream would
 *   deliver nothing
 * @throws Error when the stream breaks, or is silent for too long
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  firstMs: number = SILENCE_MS,
): AsyncGenerator<ServerEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader();
  let rest = '';
  let isFirst = true;
  try {
    for (;;) {
      const { done, value } = await within(isFirst ? firstMs : SILENCE_MS, reader.read());
      if (done) return;
      const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const event = parse(block);
        if (!event) continue;
        isFirst = false;
        yield event;
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): ServerEvent | null {
  const fields = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const [data, id] = [fields('data'), fields('id').at(-1) ?? null];
  if (data.length === 0 && id === null) return null;
  return { id, data: data.length === 0 ? null : data.join('\n') };
}

async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The stream is silent.')), ms);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}
