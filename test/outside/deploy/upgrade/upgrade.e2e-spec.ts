import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from '../../../support/clients/api.ts';
import { WebhookClient } from '../../../support/clients/webhook-client.ts';
import { emptyDatabase, type TestDatabase } from '../../../support/database.ts';
import { type Attempt, attemptCreate } from '../../../support/faults/client.ts';
import { queryOnce } from '../../../support/faults/watch.ts';
import { freePort } from '../../../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../../../support/process.ts';
import { Receiver } from '../../../support/servers/receiver.ts';
import { TEST_FOLDER } from '../../../support/test-context.ts';
import { testEnv } from '../../../support/test-env.ts';
import { eventually } from '../../../support/wait.ts';
import { say } from '../tools.ts';
import { buildRelease, lastRelease } from './last-release.ts';

const CLIENTS = 3;
/** Milliseconds of load on each pair of versions. */
const TOGETHER_MS = 4_000;
/** Milliseconds until the requests end that a process has when the balancer leaves it. */
const DRAINED_MS = 1_500;

const aRefusal = { model: 'nano-banana-2', prompt: '#delay:0.1 #fail:content_policy_violation' };
const aPicture = { model: 'gpt-image-2', prompt: 'A gate' };

const release = lastRelease();
if (release === null) say('SKIPPED an upgrade: this clone has no tag of a release that can run beside this program');

(release === null ? describe.skip : describe)('the last release and this program, on one database', () => {
  const folder = mkdtempSync(join(process.env[TEST_FOLDER] ?? tmpdir(), 'upgrade-'));
  const running = new Set<ServiceProcess>();
  /** Those that the balancer leads clients to. */
  const inRotation: Api[] = [];
  let database: TestDatabase;
  let receiver: Receiver;
  let shared: Record<string, string>;
  let oldMain: string;

  beforeAll(async () => {
    oldMain = buildRelease(release!, folder);
    database = await emptyDatabase();
    receiver = await Receiver.start();
    ({ env: shared } = await testEnv(database.url, {
      DASHBOARD: 'off',
      LOG_LEVEL: 'warn',
      SHUTDOWN_GRACE_S: '10',
      SHUTDOWN_DELAY_S: '1',
      TASK_MAX_ATTEMPTS: '1', // an orderly stop uses up no attempt
    }));
  }, 300_000);
  afterAll(async () => {
    await Promise.all([...running].map((service) => service.kill('SIGKILL')));
    await receiver?.stop();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** An API process and a worker of one version. @param main of the last release; without it this program */
  async function startPair(main?: string): Promise<{ stop(): Promise<void>; api: Api }> {
    const start = async (ROLE: string) => {
      const PORT = String(await freePort());
      const service = await spawnService({ ...shared, ROLE, PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}` }, main);
      running.add(service);
      return service;
    };
    const api = await start('api');
    const worker = await start('worker');
    inRotation.push(api.api);
    const stop = async () => {
      inRotation.splice(inRotation.indexOf(api.api), 1);
      await sleep(DRAINED_MS);
      await Promise.all([api.kill('SIGTERM'), worker.kill('SIGTERM')]);
      for (const service of [api, worker]) running.delete(service);
    };
    return { stop, api: api.api };
  }

  it('serve clients together, over the migrations and back', async () => {
    const first = await startPair(oldMain);
    const migrations = async () =>
      (await queryOnce<{ n: number }>(database.url, 'select count(*)::int as n from schema_migrations'))[0]!.n;
    const before = await migrations();
    await new WebhookClient(first.api).endpoint(receiver.url);

    const creates: Attempt[] = [];
    const reads: { status: number; retryAfter: string | null }[] = [];
    const over = new AbortController();
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let nth = 0; !over.signal.aborted; nth += 1) {
        const body = nth % 10 === 0 ? aPicture : aRefusal;
        const pick = () => inRotation[nth % inRotation.length]!;
        const created = await attemptCreate(pick(), body, `${client}-${nth}`);
        creates.push(created);
        if (created.taskId) {
          const { status, headers } = await pick().get(`/v1/tasks/${created.taskId}`);
          reads.push({ status, retryAfter: headers.get('retry-after') });
        }
        await sleep(50);
      }
    });
    const upgrade = async () => {
      await sleep(1_000);
      const newer = await startPair(); // migrates under load
      expect(await migrations()).toBeGreaterThan(before);
      await sleep(TOGETHER_MS);
      await first.stop();
      await sleep(1_000);
      const again = await startPair(oldMain); // back: it finds a newer database
      await sleep(TOGETHER_MS);
      await newer.stop();
      await sleep(1_000);
      return again;
    };
    await upgrade().finally(() => over.abort());
    await Promise.all(clients);

    const isAllowed = ({ status, retryAfter }: { status: number; retryAfter: string | null }) =>
      (status >= 200 && status < 300) || status === 429 || (status === 503 && retryAfter !== null);
    expect(creates.filter((each) => !isAllowed(each))).toEqual([]);
    expect(reads.filter((each) => !isAllowed(each))).toEqual([]);

    const accepted = creates.flatMap(({ taskId }) => taskId ?? []);
    expect(accepted.length).toBeGreaterThan(50);
    const unfinished = `select count(*)::int as n from tasks where status in ('queued', 'running')`;
    await eventually(
      'every task to end',
      async () => (await queryOnce<{ n: number }>(database.url, unfinished))[0]!.n === 0,
    );
    const tasks = await queryOnce<{ id: string; code: string | null }>(
      database.url,
      `select id, error->>'code' as code from tasks`,
    );
    expect(tasks.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted());
    expect(tasks.filter(({ code }) => code !== null && code !== 'content_policy_violation')).toEqual([]);

    await eventually('every webhook', async () => receiver.received.length >= accepted.length);
    await sleep(1_000); // a second delivery would come now
    const byEvent = Map.groupBy(receiver.received, ({ event }) => event.id);
    expect([...byEvent.values()].filter(({ length }) => length !== 1)).toEqual([]);
    const told = receiver.received.map(({ event }) => event.data.task_id);
    expect(told.toSorted()).toEqual(accepted.toSorted());
    say(`upgrade: ${accepted.length} tasks, ${creates.length - accepted.length} refused with 429 or 503`);
  }, 300_000);
});
