import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OwnService, startOwnService } from '../support/service.ts';
import { aFailure, aHang, Api } from '../support/clients/api.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-budget-events-'));
const PROVIDERS = join(folder, 'providers.yaml');
writeFileSync(PROVIDERS, `prices: [{ provider: sandbox, per_image: "0.1", on_failure: full }]`);
afterAll(() => rmSync(folder, { recursive: true }));

const EVENTS = ['budget.threshold_reached', 'budget.exceeded'];
const PICTURE = 100_000;

let service: OwnService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
  service = await startOwnService({ PROVIDERS, TASK_SWEEP_S: '0.2' });
});
afterAll(async () => {
  await service.close();
  await receiver.stop();
});

interface Key {
  id: string;
  key: string;
}

async function keyWith(budget: object): Promise<Key & { api: Api; hooks: WebhookClient }> {
  const scopes = ['generations:write', 'tasks:read', 'tasks:cancel', 'webhooks:manage'];
  const { body } = await service.api.call<Key>('POST', '/v1/api_keys', { name: 'x', scopes, limits: { budget } });
  const api = new Api(service.baseUrl, body.key);
  return { ...body, api, hooks: new WebhookClient(api) };
}

const eventsOf = (id: string) => receiver.received.filter(({ event }) => event.data.api_key_id === id);
const stored = async (id: string) =>
  (await queryOnce<{ type: string }>(service.database.url, 'select type from webhook_events where api_key_id = $1 order by id', [id])).map(({ type }) => type); // prettier-ignore

describe('the webhooks of a budget', () => {
  it('report the threshold and the first refusal once a period, with the state of the budget', async () => {
    const { id, api, hooks } = await keyWith({ amount_micros: 10 * PICTURE, period: 'day', soft_percent: 50 });
    await hooks.endpoint(receiver.url, { events: EVENTS });
    await api.create({ ...aFailure, n: 2 }, { prefer: 'wait=60' });
    await api.create({ ...aHang, n: 2 });
    expect(await stored(id)).toEqual([]);
    await api.create({ ...aHang, n: 1 });
    const [threshold] = await eventually('the threshold', async () => eventsOf(id).length > 0 && eventsOf(id));
    const start = Math.floor(Date.now() / 86_400_000) * 86_400;
    expect(threshold!.event).toMatchObject({ object: 'event', type: 'budget.threshold_reached' });
    expect(threshold!.event.data).toEqual({
      object: 'budget',
      api_key_id: id,
      spent_micros: 2 * PICTURE,
      reserved_micros: 3 * PICTURE,
      period_start: start,
      period_end: start + 86_400,
      amount_micros: 10 * PICTURE,
    });
    const refused = await Promise.all(Array.from({ length: 20 }, () => api.create({ ...aHang, n: 6 })));
    expect(refused.map(({ status }) => status)).toEqual(Array(20).fill(402));
    const exceeded = await eventually('the refusal', async () => eventsOf(id)[1]);
    expect(exceeded.event).toMatchObject({ type: 'budget.exceeded', data: { reserved_micros: 3 * PICTURE } });
    await api.create({ ...aHang, n: 5 });
    expect((await api.create(aHang)).status).toBe(402);
    // A new day begins: what was reported yesterday does not count.
    await queryOnce(
      service.database.url,
      'update key_budgets set day = day - 1, threshold_of = threshold_of - 1, exceeded_of = exceeded_of - 1 where api_key_id = $1',
      [id],
    );
    expect((await api.create({ ...aHang, n: 9 })).status).toBe(201);
    await eventually('the next threshold', async () => eventsOf(id).length === 3);
    expect((await api.create({ ...aHang, n: 9 })).status).toBe(402);
    await eventually('the next refusal', async () => eventsOf(id).length === 4);
    expect(await stored(id)).toEqual([...EVENTS, ...EVENTS]);
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
  });

  it('do not report the threshold of a budget of 0 before anything is spent', async () => {
    const [unspent, spent] = [await keyWith({ amount_micros: PICTURE, period: 'day' }), await keyWith({ amount_micros: PICTURE, period: 'day' })]; // prettier-ignore
    for (const { hooks } of [unspent, spent]) await hooks.endpoint(receiver.url, { events: EVENTS });
    await spent.api.create(aFailure, { prefer: 'wait=60' });
    const limits = { budget: { amount_micros: 0, period: 'day', soft_percent: 50 } };
    for (const { id } of [unspent, spent]) await service.api.call('PATCH', `/v1/api_keys/${id}`, { limits });
    expect((await unspent.api.create(aHang)).status).toBe(402);
    // Both rows are looked at by the same statement, so the second report shows that the first key was passed over.
    await eventually('the report of what was spent', async () => (await stored(spent.id)).length > 0);
    expect(await stored(spent.id)).toEqual(['budget.threshold_reached']);
    expect(await stored(unspent.id)).toEqual(['budget.exceeded']);
  });

  it('are sent to endpoints that name them, and reported again for a changed budget', async () => {
    const { id, api, hooks } = await keyWith({ amount_micros: PICTURE, period: 'month', soft_percent: 99 });
    const unnamed = await hooks.endpoint(receiver.url);
    expect(unnamed.events).toEqual(['task.completed', 'task.failed']);
    expect((await hooks.register({ url: receiver.url, events: ['budget.unknown'] })).status).toBe(400);
    expect((await api.create({ ...aHang, n: 2 })).status).toBe(402);
    await api.create(aFailure, { prefer: 'wait=60' });
    const marked = () => queryOnce(service.database.url, 'select 1 from key_budgets where api_key_id = $1 and threshold_of is not null and exceeded_of is not null', [id]); // prettier-ignore
    await eventually('both reports', async () => (await marked()).length > 0);
    expect(await stored(id)).toEqual(['task.failed']);

    await hooks.endpoint(receiver.url, { events: EVENTS });
    const limits = { budget: { amount_micros: PICTURE + 1, period: 'month', soft_percent: 99 } };
    await service.api.call('PATCH', `/v1/api_keys/${id}`, { limits });
    expect((await api.create(aHang)).status).toBe(402);
    await eventually('both events', async () => eventsOf(id).length === 2);
    expect((await stored(id)).toSorted()).toEqual(['budget.exceeded', 'budget.threshold_reached', 'task.failed']);
  });
});
