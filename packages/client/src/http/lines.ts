/** The lines of a text that are not empty, each as soon as it has arrived. */
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
