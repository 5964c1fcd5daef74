/** Yields each line of a text as soon as the line has arrived. Leaves out empty lines. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + decoder.decode(value, { stream: !done })).split('\n');
      rest = done ? '' : lines.pop()!;
      for (const line of lines) if (line !== '') yield line;
      if (done) return;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
