import { readFileSync } from 'node:fs';

/** One call of an operation, with what was sent and answered. */
export interface Recording {
  /** Of the path, by their names in the description. */
  parameters: Record<string, string>;
  request?: unknown;
  /** JSON, or the text of a stream or of lines. */
  response?: unknown;
}

interface Sent {
  body?: unknown;
  form?: FormData;
  headers?: Record<string, string>;
  /** Only makes something for other calls. */
  isUnrecorded?: boolean;
}

const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));
const templates = Object.keys(document.paths).toSorted((a, b) => a.split('{').length - b.split('{').length);
const patternOf = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

/** `GET /v1/tasks/{task_id}` of every operation whose success is JSON or text, and no file. */
export function operationsWithExamples(): string[] {
  return Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => /json|event-stream/.test(successTypes(responses)[0] ?? ''))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
}

const successTypes = (responses: Record<string, any>): string[] =>
  Object.entries(responses).flatMap(([status, { content }]) =>
    status.startsWith('2') ? Object.keys(content ?? {}) : [],
  );

/** Calls the service as any client does, and remembers the first call of each operation. */
export class Recorder {
  readonly recordings = new Map<string, Recording>();

  constructor(
    private readonly baseUrl: string,
    private readonly key: string,
  ) {}

  async call(method: string, path: string, { body, form, headers = {}, isUnrecorded }: Sent = {}): Promise<any> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        ...(!('cookie' in headers) && { authorization: `Bearer ${this.key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(form ? { body: form } : body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause) => {
      throw new Error(`${method} ${path} got no answer.`, { cause });
    });
    const type = response.headers.get('content-type') ?? '';
    const text = /json|text/.test(type) ? await response.text() : (await response.arrayBuffer(), '');
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    const isJson = /^application\/json(?!l)/.test(type);
    const answer = isJson ? JSON.parse(text) : text;
    if (!isUnrecorded) this.record(method, path, { request: body, response: answer });
    return answer;
  }

  /** The first event of a stream that does not end. */
  async firstEvent(path: string): Promise<void> {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${this.key}`, accept: 'text/event-stream' };
    const { body } = await fetch(this.baseUrl + path, { headers, signal: leaving.signal });
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body!) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('data: ') && text.endsWith('\n\n')) break;
    }
    leaving.abort();
    this.record('GET', path, { request: undefined, response: text });
  }

  private record(method: string, path: string, { request, response }: Omit<Recording, 'parameters'>): void {
    const bare = path.split('?', 1)[0]!;
    const template = templates.find((each) => patternOf(each).test(bare))!;
    const name = `${method} ${template}`;
    if (this.recordings.has(name)) return;
    const parameters = { ...patternOf(template).exec(bare)!.groups };
    this.recordings.set(name, { parameters, request, response });
  }
}
