import { setTimeout as sleep } from 'node:timers/promises';
import { Api, aFailure } from '../support/clients/api.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually, leastOf } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

let service: OwnService;
const receivers: Receiver[] = [];
beforeAll(async () => (service = await startOwnService({ WEBHOOK_TIMEOUT_MS: '4000' })));
afterAll(async () => {
  await service.close();
  for (const receiver of receivers) await receiver.stop();
});

async function tenant(answer?: Receiver['answer']) {
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'tenant', limits: {} });
  const api = new Api(service.baseUrl, body.key);
  const receiver = await Receiver.start(answer);
  receivers.push(receiver);
  const hooks = new WebhookClient(api);
  return { api, receiver, hooks, endpoint: await hooks.endpoint(receiver.url) };
}

it('delivers in time beside dead endpoints with 1,000 waiting events: p95 under 2 s', async () => {
  const dead = await Promise.all([tenant(() => undefined), tenant(() => undefined), tenant(() => undefined)]);
  const alive = await tenant();
  const backlog = [...Array(1000).keys()].map((nth) => () => dead[nth % 3]!.api.create(aFailure));
  const worker = async () => {
    for (let create = backlog.pop(); create; create = backlog.pop()) await create();
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  const waiting = 'select 1 from webhook_dispatches where due_at is not null';
  await eventually('the backlog', async () => (await queryOnce(service.database.url, waiting)).length > 900);
  // The endpoints have failed by now, so the worker makes one attempt at a time.
  await Promise.all(dead.map(({ hooks, endpoint }) => hooks.ended(endpoint.id, 10)));
  await eventually('single probes', async () => dead.every(({ receiver }) => receiver.open <= 1));

  const p95 = async () => {
    alive.receiver.received.length = 0;
    const startedAt = new Map<string, number>();
    for (let nth = 0; nth < 60; nth++) {
      const { body } = await alive.api.create(aFailure);
      startedAt.set(body.task_id, performance.now());
      await sleep(20);
    }
    const received = await alive.receiver.until(60);
    return received
      .map(({ event, at }) => at - (startedAt.get(event.data.task_id) as number))
      .toSorted((a, b) => a - b)[56]!;
  };
  expect(await leastOf(3, 2_000, p95)).toBeLessThan(2_000);
  for (const { receiver } of dead) expect(receiver.mostOpen).toBeLessThanOrEqual(10);
}, 180_000);
