// Own settings: the limits that the pages show, which are the defaults.
import { type OwnService, startOwnService } from '../support/service.ts';
import { aCat } from '../support/clients/api.ts';
import { openApiFaults } from '../support/openapi-answers.ts';
import { type DocRequest, docExamples, lastEventOf } from '../support/doc-examples.ts';

/** The ids of every page are made up. A page may read this task; the others it creates itself. */
const GIVEN_TASK = 'task_01jd8e5t9kf3qs7m2v4xw6yzab';
const ID = /^(task|batch|key|we|evt|dlv|file)_[0-9a-z]{26}/;
/** Fields whose value differs from run to run, and prose. Only their type is compared. */
const VARYING = /^(id|key|secret|url|hint|created_by|.+_id|.+Id|.+_at|.+_hint|sha256|size_bytes|description)$/;

/** A number, or null while too little has run to tell. */
const ESTIMATED = /^estimated_.+_at$/;

let service: OwnService;
/** From an id of the page to the one of the running service. */
const ids = new Map<string, string>();

beforeAll(async () => {
  service = await startOwnService({ RATE_CREATE_PER_MIN: '600', RATE_READ_PER_MIN: '6000' });
  const { body } = await service.api.create(aCat);
  await service.api.untilFinal(body.task_id);
  remember(GIVEN_TASK, body.task_id);
});
afterAll(() => service.close());

describe.each(docExamples())('the examples of docs/api/$page', ({ examples }) => {
  it('are there', () => expect(examples).not.toEqual([]));

  it.each(examples)('$request.method $request.path gets $response.status', async ({ request, response }) => {
    const answer = await send(request);
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
    const body = isStream ? lastEventOf(answer.text) : answer.body;
    expect(differences(response.body, body, { at: 'body', isShortened: response.isShortened })).toEqual([]);
    expect(answer.status).toBe(response.status);
    if (request.path.startsWith('/v1/') && answer.headers.get('content-type')?.startsWith('application/json')) {
      const { status, body } = answer;
      expect(openApiFaults({ method: request.method, path: request.path, status, body })).toEqual([]);
    }
    for (const [name, value] of Object.entries(response.headers)) {
      if (name === 'x-request-id') expect(answer.headers.has(name)).toBe(true);
      else expect({ [name]: answer.headers.get(name) }).toEqual({ [name]: value });
    }
  });
});

/** Sends what the page shows, with the ids and the key of the running service. */
function send({ method, path, headers, body }: DocRequest) {
  const { authorization: _, ...rest } = headers;
  return service.api.call(method, withRealIds(path), body && withRealIds(body), rest);
}

function withRealIds(text: string): string {
  for (const [shown, real] of ids) text = text.replaceAll(shown, real);
  return text;
}

function remember(shown: string, real: string): void {
  ids.set(shown, real);
  if (shown.startsWith('task_')) ids.set(shown.replace('task_', 'file_'), real.replace('task_', 'file_'));
}

/** Where the real value is not what the page shows: missing or additional keys, other types, other fixed values. */
function differences(shown: unknown, real: unknown, where: { at: string; isShortened: boolean }): string[] {
  const { at, isShortened } = where;
  if (typeof shown !== 'object' || shown === null) return scalarDifference(shown, real, at);
  if (typeof real !== 'object' || real === null || Array.isArray(shown) !== Array.isArray(real)) {
    return [`${at}: ${JSON.stringify(real)}`];
  }
  const [expected, actual] = [shown as Record<string, unknown>, real as Record<string, unknown>];
  const additional = Object.keys(actual).filter((key) => !(key in expected));
  return [
    ...(isShortened ? [] : additional.map((key) => `${at}.${key} is not shown`)),
    ...Object.keys(expected).flatMap((key) =>
      key in actual
        ? differences(expected[key], actual[key], { at: `${at}.${key}`, isShortened })
        : [`${at}.${key} is missing`],
    ),
  ];
}

function scalarDifference(shown: unknown, real: unknown, at: string): string[] {
  const key = at.slice(at.lastIndexOf('.') + 1);
  if (ESTIMATED.test(key)) return real === null || typeof real === 'number' ? [] : [`${at}: ${JSON.stringify(real)}`];
  if (!VARYING.test(key)) return shown === real ? [] : [`${at}: ${JSON.stringify(real)}`];
  if (typeof shown !== typeof real || (shown === null) !== (real === null)) return [`${at}: ${JSON.stringify(real)}`];
  if (typeof shown === 'string' && ID.test(shown)) remember(shown, real as string);
  return [];
}
