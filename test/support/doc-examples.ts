import { readdirSync, readFileSync } from 'node:fs';

/** A fenced block of a page. `args` are the words after the language and `request` or `response`. */
interface Block {
  language: string;
  kind: 'request' | 'response';
  args: string[];
  text: string;
}

export interface DocRequest {
  method: string;
  path: string;
  /** The headers by their names in lower case. */
  headers: Record<string, string>;
  body: string | undefined;
}

export interface DocResponse {
  status: number;
  headers: Record<string, string>;
  body: unknown;
  /** Whether the real response may have more keys and more items. */
  isShortened: boolean;
}

export interface DocExample {
  request: DocRequest;
  response: DocResponse;
}

/** Pages without JSON. Tests of their own compare them with the running service. */
const WITHOUT_EXAMPLES = ['metrics.md'];
const PAGES = new URL('../../docs/api/', import.meta.url);
const FENCE = /^```(\w+) (request|response)\b ?([^\n]*)\n(.*?)^```$/gms;

/**
 * The examples of `docs/api` that are marked for replay by the info string of their fence. Readers of the page do not
 * see this mark. A request is followed by its response:
 * - `json request POST /v1/generations` and the body, or `http request` and the message with its headers
 * - `json response 201` and the body, `http response` and the message, or `text response 200` and an event stream.
 *   With `shortened` at the end the real body may have more.
 */
export function docExamples(): { page: string; examples: DocExample[] }[] {
  return readdirSync(PAGES)
    .filter((page) => page.endsWith('.md') && !WITHOUT_EXAMPLES.includes(page))
    .map((page) => ({ page, examples: examplesOf(readFileSync(new URL(page, PAGES), 'utf8'), page) }));
}

function examplesOf(page: string, name: string): DocExample[] {
  const blocks = [...page.matchAll(FENCE)].map(
    ([, language, kind, args, text]) => ({ language, kind, args: args!.split(' '), text }) as Block,
  );
  const isPaired = blocks.every(({ kind }, index) => kind === (index % 2 === 0 ? 'request' : 'response'));
  if (!isPaired || blocks.length % 2 !== 0) throw new Error(`${name}: each request needs a response right after it.`);
  return Array.from({ length: blocks.length / 2 }, (_, index) => ({
    request: requestOf(blocks[2 * index]!),
    response: responseOf(blocks[2 * index + 1]!),
  }));
}

function requestOf({ language, args, text }: Block): DocRequest {
  if (language === 'http') {
    const { first, headers, body } = messageOf(text);
    const [method = '', path = ''] = first.split(' ');
    return { method, path, headers, body: body || undefined };
  }
  const [method = '', path = ''] = args;
  return { method, path, headers: { 'content-type': 'application/json' }, body: text };
}

function responseOf({ language, args, text }: Block): DocResponse {
  const isShortened = args.includes('shortened');
  if (language === 'http') {
    const { first, headers, body } = messageOf(text);
    return { status: Number(first.split(' ')[1]), headers, body: JSON.parse(body), isShortened };
  }
  const status = Number(args[0]);
  if (language === 'text') return { status, headers: {}, body: lastEventOf(text), isShortened };
  return { status, headers: {}, body: JSON.parse(text), isShortened };
}

function messageOf(text: string) {
  const [head = '', body = ''] = text.split(/\n\n(.*)/s);
  const [first = '', ...lines] = head.split('\n');
  const headers: Record<string, string> = {};
  for (const line of lines.filter(Boolean)) {
    const [name = '', value = ''] = line.split(/: (.*)/s);
    headers[name.toLowerCase()] = value;
  }
  return { first, headers, body };
}

/** The parsed data of the last event of a stream. The page may have shortened it: `{"status":"running",…}`. */
export function lastEventOf(stream: string): unknown {
  const data = stream.split('\n').findLast((line) => line.startsWith('data: '));
  return JSON.parse((data ?? 'data: null').slice('data: '.length).replace(',…}', '}'));
}
