import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../../../support/clients/api.ts';
import { WebhookClient } from '../../../support/clients/webhook-client.ts';
import { FailoverLoad } from '../../../support/faults/failover-load.ts';
import { FaultFleet, SHORT_TIMES } from '../../../support/faults/fleet.ts';
import { PostgresPair, postgresPrograms } from '../../../support/servers/postgres-pair.ts';
import { Receiver } from '../../../support/servers/receiver.ts';
import { ArkStub } from '../../../support/stubs/ark.stub.ts';
import { OpenaiStub } from '../../../support/stubs/openai.stub.ts';
import { eventually } from '../../../support/wait.ts';
import { say } from '../tools.ts';

/** What the service promises of a failover, beside the time that the promotion itself takes. */
const MOST_MS_WITHOUT_201 = 5_000;
/** Of load before each promotion. */
const BETWEEN_MS = 1_500;

if (postgresPrograms === null) say('SKIPPED failover of PostgreSQL: no pg_basebackup is here (Debian: postgresql)');

(postgresPrograms === null ? describe.skip : describe)('three promotions of a synchronous standby under load', () => {
  let pair: PostgresPair;
  let fleet: FaultFleet;
  let receiver: Receiver;
  let load: FailoverLoad | undefined;
  const ark = new ArkStub();
  const openai = new OpenaiStub();
  beforeAll(async () => {
    [pair, receiver] = await Promise.all([PostgresPair.start(), Receiver.start(), ark.start(), openai.start()]);
    ark.real = true;
    ark.steps = { queued: 1, running: 12 };
    fleet = await FaultFleet.on(pair.url, {
      ...SHORT_TIMES,
      WEBHOOK_RETRY_SCHEDULE: '1,1,1,1,1,1,1',
      LOG_LEVEL: 'warn',
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
    });
    await fleet.add('api'); // it migrates, by the URL of both servers
    await fleet.add('worker');
    await new WebhookClient(fleet.apis[0]!.service.api).endpoint(receiver.url);
  }, 180_000);
  afterAll(async () => {
    await load?.stop();
    await fleet?.end();
    await Promise.all([ark.stop(), openai.stop(), receiver?.stop()]);
    await pair?.remove();
  });

  const api = (): Api => fleet.clientOf(fleet.apis[0]!);

  it('lose no accepted task, buy nothing twice and answer 2xx, 429 or 503', async () => {
    const clients = (load = new FailoverLoad(api));
    const promotions: Record<string, number> = {};
    /** @param fail of the present primary, before the standby is promoted */
    const promotion = async (name: string, fail: () => Promise<void>): Promise<void> => {
      const before = clients.accepted.length;
      await sleep(BETWEEN_MS);
      await eventually('creates before', async () => clients.accepted.length > before + 20);
      const since = performance.now();
      await fail();
      await pair.promote();
      const promotedMs = performance.now();
      await eventually('a create after', async () => clients.lastAcceptedMs > promotedMs);
      promotions[`${name}_ms`] = Math.round(clients.lastAcceptedMs - since);
      promotions[`${name}_promotion_ms`] = Math.round(promotedMs - since);
    };

    await promotion('crash', () => pair.primary.stop('immediate'));
    await pair.rejoin();
    await promotion('switch_over', () => pair.primary.stop('fast'));
    await pair.rejoin();

    // Cut off from its standby and from whoever promotes, but not from us: it takes no write to its end, and reads go on.
    await promotion('cut_off', async () => undefined);
    const old = pair.standby;
    expect((await old.query<{ n: number }>('select count(*)::int as n from tasks'))[0]!.n).toBeGreaterThan(0);
    // Those whose commit waits for the standby do not notice that their client has gone.
    const ours = `select application_name from pg_stat_activity where application_name in ('darkroom', 'darkroom:bus')
      and wait_event is distinct from 'SyncRep'`;
    await eventually('nobody to be left there', async () => (await old.query(ours)).length === 0, 10_000);
    await sleep(BETWEEN_MS);
    await clients.stop();
    await old.stop('immediate');

    const finals = await clients.untilFinal();
    await eventually('every webhook', async () => {
      const told = new Set(receiver.received.map(({ event }) => event.data.task_id));
      return clients.accepted.every(({ id }) => told.has(id));
    });
    const made = await pair.primary.query<{ model: string; n: number }>(
      'select model, count(*)::int as n from tasks group by model',
    );
    const rows = Object.fromEntries(made.map(({ model, n }) => [model, n]));
    say(
      `failover: ${JSON.stringify({
        ...promotions,
        accepted: clients.accepted.length,
        answers: clients.statuses(),
        longest_without_201_ms: Math.round(clients.longestGapMs),
        slowest_answer_ms: Math.round(Math.max(...clients.answers.map(({ took }) => took))),
        films: [ark.submits, rows['seedance-2']],
        pictures: [openai.submits, rows['gpt-image-2']],
      })}`,
    );

    expect(clients.wrong).toEqual([]);
    expect(finals.filter(({ ok }) => !ok)).toEqual([]);
    expect(ark.submits).toBe(rows['seedance-2']);
    expect(openai.submits).toBe(rows['gpt-image-2']);
    expect(clients.longestGapMs).toBeLessThan(MOST_MS_WITHOUT_201);
  }, 240_000);
});
