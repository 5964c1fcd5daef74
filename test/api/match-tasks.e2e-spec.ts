import { idBoundAt } from '../../src/platform/schema/time.ts';
import type { TaskBody } from '../support/clients/api.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { joinService, type SharedService } from '../support/service.ts';

/** More than are compared in the order of the list, which are 2,000. */
const TASKS = 2_600;

interface Made {
  nth: number;
  kind: string;
  model: string;
  source: string;
  status: string;
  words: string;
  metadata: Record<string, string>;
  code: string | null;
}

/** Values that many tasks have, that few have, also on both sides of the 2,000th task, and that one has. */
const made: Made[] = Array.from({ length: TASKS }, (_, nth) => {
  const isFilm = nth % 300 === 7;
  const hasFailed = nth % 3 === 0;
  return {
    nth,
    kind: isFilm ? 'video' : 'image',
    model: isFilm ? 'sora-2' : 'gpt-image-2',
    source: nth % 420 === 0 ? 'mcp' : 'api',
    status: hasFailed ? 'failed' : 'succeeded',
    words: `A lighthouse ${nth % 500 === 5 ? 'in fog' : ''}`,
    metadata: { shop: nth % 2 === 0 ? 'north' : 'south', ...(nth % 400 === 1 && { campaign: 'spring' }) },
    code: hasFailed ? (nth % 450 === 0 ? 'worker_lost' : 'provider_timeout') : null,
  };
});
const START_S = 1_500_000_000;
const NEIGHBOUR = 'key_matching_neighbour';
/** Added to numbers, so that all have five digits. */
const FIRST = 10_000;
const idOf = ({ nth }: Made, owner: number): string =>
  `${idBoundAt(1000 * (START_S + nth))}e000000000${owner}${FIRST + nth}`;
const isRecent = ({ nth }: Made): boolean => nth > 400;

const FILTERS: [query: string, matches: (task: Made) => boolean][] = [
  ['kind=image', ({ kind }) => kind === 'image'],
  ['kind=video', ({ kind }) => kind === 'video'],
  ['model=sora-2', ({ model }) => model === 'sora-2'],
  ['model=seedance-2', () => false],
  ['source=mcp', ({ source }) => source === 'mcp'],
  ['source=mcp&kind=video', ({ source, kind }) => source === 'mcp' && kind === 'video'],
  ['metadata[shop]=north', ({ metadata }) => metadata.shop === 'north'],
  ['metadata[campaign]=spring', ({ metadata }) => metadata.campaign === 'spring'],
  ['metadata[campaign]=spring&kind=image', ({ metadata }) => metadata.campaign === 'spring'],
  ['metadata[shop]=north&model=sora-2', ({ metadata, model }) => metadata.shop === 'north' && model === 'sora-2'],
  ['error_code=worker_lost', ({ code }) => code === 'worker_lost'],
  ['error_code=provider_timeout', ({ code }) => code === 'provider_timeout'],
  ['status=failed&source=mcp', ({ status, source }) => status === 'failed' && source === 'mcp'],
  ['search=FOG', ({ words }) => words.includes('fog')],
  ['search=fog&metadata[shop]=south', ({ words, metadata }) => words.includes('fog') && metadata.shop === 'south'],
  ['search=lighthouse', () => true],
  [`created_after=${START_S + 400}&model=sora-2`, (task) => isRecent(task) && task.model === 'sora-2'],
  [`created_after=${START_S + 400}&search=fog`, (task) => isRecent(task) && task.words.includes('fog')],
];

describe('filters that few of many tasks match', () => {
  let service: SharedService;

  beforeAll(async () => {
    service = await joinService();
    // The tasks of a neighbour match everything.
    for (const [at, owner] of [service.keyId, NEIGHBOUR].entries()) {
      await queryOnce(
        service.database.url,
        `insert into tasks (id, api_key_id, kind, model, source, status, input, metadata, created_at, completed_at, deadline_at, expires_at, result, error)
         select id, $1, kind, model, source, status, jsonb_build_object('prompt', words, 'n', 1), metadata,
                to_timestamp(${START_S} + nth), now(), now(), now() + interval '1 day', case status when 'succeeded' then '[]'::json end,
                case when code is not null then jsonb_build_object('code', code, 'message', '', 'retryable', true) end
         from jsonb_to_recordset($2) as made(id text, nth int, kind text, model text, source text, status text, words text, metadata jsonb, code text)`,
        [owner, JSON.stringify(made.map((task) => ({ ...task, id: idOf(task, at) })))],
      );
    }
  });
  afterAll(async () => {
    await queryOnce(service.database.url, 'delete from tasks where api_key_id = any($1)', [[service.keyId, NEIGHBOUR]]);
    await service.close();
  });

  const pagesOf = async (query: string, limit: number): Promise<number[]> => {
    const found: number[] = [];
    for (let after = ''; ;) {
      const { status, body, text } = await service.api.get<{ data: TaskBody[]; has_more: boolean }>(
        `/v1/tasks?limit=${limit}&${query}${after && `&after=${after}`}`,
      );
      expect([status, text]).toEqual([200, expect.any(String)]);
      found.push(...body.data.map(({ task_id }) => Number(task_id.slice(-5)) - FIRST));
      if (!body.has_more) return found;
      expect(body.data).toHaveLength(limit);
      after = body.data.at(-1)!.task_id;
    }
  };

  it.each(FILTERS)('%s: pages have each task that matches, once and in order', async (query, matches) => {
    const expected = made.filter(matches).map(({ nth }) => nth);
    const limit = expected.length > 100 ? 100 : 3;
    expect(await pagesOf(query, limit)).toEqual(expected.toReversed());
    expect(await pagesOf(`${query}&order=asc`, limit)).toEqual(expected);
  });
});
