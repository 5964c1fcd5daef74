import { type Moment, RunMoments } from './moment.ts';

const TASK = { attempt: 2, timeline: null, provider: 'openai', upstream_id: null };
const HELD: Moment[] = [[1, 'held', 1, null, 'provider_limit']];
let nowMs: number;
const momentsOf = (task: object = {}) => new RunMoments({ ...TASK, ...task }, () => (nowMs += 1));

/** The types that a write sends. */
async function sent(moments: RunMoments, last: Parameters<RunMoments['write']>[0], works = true): Promise<string[]> {
  let json: string | null = null;
  await moments.write(
    last,
    async (given) => void (json = given),
    () => works,
  );
  return typesIn(json);
}
const typesIn = (json: string | null): string[] =>
  ((JSON.parse(json ?? '[]') as Moment[]) ?? []).map(([, type]) => type);

describe('the moments of a run', () => {
  beforeEach(() => (nowMs = 100));

  it('go with the next write, and stay if it has no effect', async () => {
    const moments = momentsOf();
    moments.note('references_ready');
    expect(await sent(moments, ['submitting', 'openai'], false)).toEqual(['references_ready', 'submitting']);
    expect(await sent(moments, ['submitting', 'openai'])).toEqual(['references_ready', 'submitting']);
    expect(await sent(moments, ['accepted', 'openai'])).toEqual(['accepted']);
    moments.note('storing', 'openai');
    expect(moments.unwritten).toEqual([[106, 'storing', 2, 'openai', null]]);
  });

  it('say once that several jobs were accepted', async () => {
    const moments = momentsOf();
    expect(await sent(moments, ['submitting', 'fal'])).toEqual(['submitting']);
    expect(await sent(moments, ['accepted', 'fal'])).toEqual(['accepted']);
    expect(await sent(moments, ['accepted', 'fal'])).toEqual([]);
    expect(await sent(momentsOf({ upstream_id: 'job' }), ['accepted', 'fal'])).toEqual([]);
  });

  it('are silent while the task waits on for its provider', async () => {
    const moments = momentsOf({ timeline: HELD });
    moments.note('refused', 'openai', 'provider_unavailable');
    expect(await sent(moments, null)).toEqual([]);
    expect(moments.onHold()).toBeNull();
    expect(await sent(moments, ['submitting', 'fal'])).toEqual(['released', 'refused', 'submitting']);
    expect(typesIn(moments.onHold())).toEqual(['held']);
  });

  it('say whether a pause of the operator holds the task', () => {
    expect(JSON.parse(momentsOf().onHold('pause')!)).toEqual([[nowMs, 'held', 2, null, 'pause']]);
  });

  it('are few', () => {
    const moments = momentsOf();
    for (let nth = 0; nth < 50; nth++) moments.note('refused');
    expect(moments.unwritten).toHaveLength(8);
    expect(momentsOf({ timeline: HELD }).unwritten).toEqual([]);
  });
});
