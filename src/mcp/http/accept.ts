export const JSON_TYPE = 'application/json';
export const STREAM_TYPE = 'text/event-stream';

/**
 * Whether an Accept header accepts a content type (RFC 9110, 12.5.1): the most specific range decides. If there is no
 * header, or the header has no ranges, every type is accepted.
 */
export function accepts(header: string | undefined, type: string): boolean {
  const ranges = (header ?? '')
    .split(',')
    .map(readRange)
    .filter(({ name }) => name !== '');
  if (ranges.length === 0) return true;
  for (const name of [type, type.replace(/\/.*/, '/*'), '*/*']) {
    const range = ranges.find((each) => each.name === name);
    if (range) return range.quality > 0;
  }
  return false;
}

function readRange(text: string): { name: string; quality: number } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { name, quality: quality === undefined ? 1 : Number(quality.slice('q='.length)) };
}

/**
 * Turns a stream of events into JSON for a client that takes no stream: one message, or the list of a batch. Messages
 * that are no answers, such as progress reports, are dropped.
 */
export async function toJson(stream: Response, isBatch: boolean): Promise<Response> {
  const text = await stream.text();
  const messages = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as { id?: unknown; method?: unknown })
    .filter(({ id, method }) => id !== undefined && method === undefined);
  // There may be no message, if the client has hung up.
  return Response.json(isBatch ? messages : (messages[0] ?? null), { status: stream.status });
}
