import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../../support/clients/api.ts';
import { WebhookClient } from '../../support/clients/webhook-client.ts';
import { type Attempt, attemptCreate } from '../../support/faults/client.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { PostgresPair, postgresPrograms } from '../../support/servers/postgres-pair.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { eventually } from '../../support/wait.ts';
import { say } from '../tools.ts';

/** What the service promises of a failover, beside the time that the promotion itself takes. */
const MOST_MS_WITHOUT_201 = 5_000;
/** Of load before each promotion. */
const BETWEEN_MS = 1_500;
const CLIENTS = 4;
/** Between the creates of one client. */
const PAUSE_MS = 60;

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
const aPicture = { model: 'gpt-image-2', prompt: 'A cat on a roof' };
/** Runs in the sandbox. */
const aRefusal = { model: 'nano-banana-2', prompt: '#fail:content_policy_violation' };

if (postgresPrograms === null) say('SKIPPED failover of PostgreSQL: no pg_basebackup is here (Debian: postgresql)');

(postgresPrograms === null ? describe.skip : describe)('three promotions of a synchronous standby under load', () => {
  let pair: PostgresPair;
  let fleet: FaultFleet;
  let receiver: Receiver;
  let load: Load | undefined;
  const ark = new ArkStub();
  const openai = new OpenaiStub();
  beforeAll(async () => {
    [pair, receiver] = await Promise.all([PostgresPair.start(), Receiver.start(), ark.start(), openai.start()]);
    ark.real = true;
    ark.steps = { queued: 1, running: 12 };
    fleet = await FaultFleet.on(pair.url, {
      TASK_LEASE_S: '3',
      TASK_HEARTBEAT_S: '0.5',
      TASK_SWEEP_S: '0.5',
      TASK_MAX_ATTEMPTS: '50',
      PROVIDER_POLL_INTERVAL_MS: '150',
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
    const clients = (load = new Load(api));
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

/** Clients that create, and one that reads what was accepted, without a pause. */
class Load {
  readonly accepted: { id: string; wants: string }[] = [];
  readonly answers: Attempt[] = [];
  /** Answers that no client may get. */
  readonly wrong: unknown[] = [];
  longestGapMs = 0;
  lastAcceptedMs = performance.now();
  private readonly over = new AbortController();
  private readonly running: Promise<void>[];
  private nth = 0;

  constructor(private readonly api: () => Api) {
    this.running = [...Array.from({ length: CLIENTS }, () => this.create()), this.read()];
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
  }

  statuses(): Record<number, number> {
    return Object.fromEntries(
      [...new Set(this.answers.map(({ status }) => status))].map((status) => [
        status,
        this.answers.filter((answer) => answer.status === status).length,
      ]),
    );
  }

  /** @returns how each accepted task ended */
  async untilFinal(): Promise<{ id: string; ok: boolean; error: unknown }[]> {
    const finals = [];
    for (const { id, wants } of this.accepted) {
      const { status, error } = await this.api().untilFinalWithin(id, 60_000);
      finals.push({ id, ok: (error?.code ?? status) === wants, error: error ?? status });
    }
    return finals;
  }

  private async create(): Promise<void> {
    while (!this.over.signal.aborted) {
      const nth = (this.nth += 1);
      const body = nth % 40 === 0 ? aFilm : nth % 40 === 20 ? aPicture : aRefusal;
      const answer = await attemptCreate(this.api(), body, `failover-${nth}`);
      this.judge(answer);
      if (answer.taskId) {
        this.accepted.push({
          id: answer.taskId,
          wants: body === aRefusal ? 'content_policy_violation' : 'succeeded',
        });
        const now = performance.now();
        this.longestGapMs = Math.max(this.longestGapMs, now - this.lastAcceptedMs);
        this.lastAcceptedMs = now;
      }
      await sleep(PAUSE_MS);
    }
  }

  private judge(answer: Attempt): void {
    this.answers.push(answer);
    const { status, retryAfter } = answer;
    const isRight = status === 201 || status === 429 || (status === 503 && Number(retryAfter) > 0);
    if (!isRight) this.wrong.push(answer);
  }

  /** An accepted task is there from then on, and a final one stays as it is. */
  private async read(): Promise<void> {
    const final = new Map<string, string>();
    while (!this.over.signal.aborted) {
      await sleep(30);
      const one = this.accepted[Math.floor(Math.random() * this.accepted.length)];
      if (!one) continue;
      const { status, body, headers } = await this.api().get(`/v1/tasks/${one.id}`);
      if (status === 503 && Number(headers.get('retry-after')) > 0) continue;
      const before = final.get(one.id);
      if (status !== 200 || (before && before !== body.status)) this.wrong.push({ read: one.id, status, body, before });
      else if (['succeeded', 'failed'].includes(body.status)) final.set(one.id, body.status);
    }
  }
}
