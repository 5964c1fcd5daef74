import { eventually } from '../wait.ts';

export interface ServerEvent {
  id: string | undefined;
  /** The parsed JSON. */
  data: { task_id: string; status: string; progress: number; [field: string]: unknown };
}

interface ReaderOptions {
  lastEventId?: string;
  /** Whether nothing is read before `resume()`. */
  paused?: boolean;
}

/** Reads a text/event-stream as the HTML standard defines it. It sends an API key, and a Last-Event-ID if given. */
export class EventReader {
  readonly events: ServerEvent[] = [];
  readonly comments: string[] = [];
  /** An id that came before the first event. */
  private firstId: string | undefined;
  /** Resolves when the server ends the stream. */
  readonly ended: Promise<void>;
  private readonly abort = new AbortController();
  private readonly started = Promise.withResolvers<void>();

  private constructor(
    readonly reply: Response,
    abort: AbortController,
    paused: boolean,
  ) {
    this.abort = abort;
    if (!paused) this.resume();
    this.ended = this.read();
    this.ended.catch(() => undefined);
  }

  static async open(baseUrl: string, path: string, key: string, options: ReaderOptions = {}): Promise<EventReader> {
    const abort = new AbortController();
    const reply = await fetch(new URL(path, baseUrl), {
      signal: abort.signal,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'text/event-stream',
        ...(options.lastEventId !== undefined && { 'last-event-id': options.lastEventId }),
      },
    });
    return new EventReader(reply, abort, options.paused ?? false);
  }

  get lastEventId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id ?? this.firstId;
  }

  of(taskId: string): ServerEvent['data'][] {
    return this.events.map(({ data }) => data).filter((data) => data.task_id === taskId);
  }

  until(what: string, met: (events: ServerEvent[]) => boolean, withinMs?: number): Promise<true> {
    return eventually(what, async () => met(this.events), withinMs);
  }

  resume(): void {
    this.started.resolve();
  }

  close(): void {
    this.abort.abort();
  }

  private async read(): Promise<void> {
    await this.started.promise;
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of this.reply.body ?? []) {
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() as string;
      for (const block of blocks) this.take(block.split('\n'));
    }
  }

  private take(lines: string[]): void {
    const fields = lines
      .map((line) => /^([a-z]*): ?(.*)$/s.exec(line))
      .map((found) => [found?.[1], found?.[2]] as const);
    for (const [name, value] of fields) if (name === '') this.comments.push(value as string);
    const data = fields.filter(([name]) => name === 'data').map(([, value]) => value);
    const id = fields.find(([name]) => name === 'id')?.[1];
    if (data.length === 0) this.firstId ??= id;
    else this.events.push({ id, data: JSON.parse(data.join('\n')) });
  }
}
