import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '../../src/platform/config/config.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { testEnv } from '../support/test-env.ts';
import { aCat, Api } from '../support/clients/api.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { darkroom } from '../support/darkroom-command.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';

const aFilm = { model: 'seedance-2', prompt: 'A cat walks' };

describe('a service on an old backup, with RESTORED_FROM', () => {
  const ark = new ArkStub();
  const openai = new OpenaiStub();
  const calling = Promise.withResolvers<void>();
  let receiver: Receiver;
  let folder: string;
  let takenAt: string;
  let settings: Record<string, string>;
  let before: OwnService;
  let database: TestDatabase;
  /** By what the backup knew of them. */
  let ids: { told: string; accepted: string; called: string; waiting: string };
  let submits: number;
  let told: number;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'restored-'));
    await Promise.all([ark.start(), openai.start()]);
    receiver = await Receiver.start((_, response) => void response.writeHead(500).end());
    ark.real = true;
    ark.steps = { queued: 0, running: 1e9 };
    settings = {
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      PROVIDER_POLL_INTERVAL_MS: '50',
      MAX_RUNNING_PER_KEY: '2',
      TASK_LEASE_S: '2',
      TASK_MAX_ATTEMPTS: '10', // a slow machine loses a lease now and then
      TASK_HEARTBEAT_S: '0.5',
      TASK_SWEEP_S: '0.3',
      WEBHOOK_RETRY_SCHEDULE: '1,1,1,1,1,1,1,1',
    };
    before = await startOwnService(settings);
    const { api } = before;
    await new WebhookClient(api).endpoint(receiver.url);

    const create = async (body: object) => (await api.create(body)).body.task_id;
    const first = await create(aCat);
    await api.untilFinal(first);
    await receiver.until(1);
    openai.plan(/^POST .*\/images\/generations/, { restAfter: calling.promise });
    const [accepted, called] = [await create(aFilm), await create(aCat)];
    await eventually('both paid calls', async () => ark.submits === 1 && openai.halves === 1);
    await eventually('the id of the job', async () => {
      const [row] = await queryOnce<{ is_known: boolean }>(
        before.database.url,
        'select upstream_id is not null as is_known from tasks where id = $1',
        [accepted],
      );
      return row!.is_known;
    });
    ids = { told: first, accepted, called, waiting: await create(aCat) };
    const backup = await darkroom(['backup', join(folder, 'backup')], before.env);
    expect(backup).toMatchObject({ code: 0 });
    ({ taken_at: takenAt } = JSON.parse(readFileSync(join(folder, 'backup/manifest.json'), 'utf8')));

    // What the backup does not know: each task ends, and each end is told.
    receiver.answer = (_, response) => void response.writeHead(200).end();
    ark.steps = { queued: 0, running: 1 };
    calling.resolve();
    for (const id of Object.values(ids)) expect((await api.untilFinal(id)).status).toBe('succeeded');
    await eventually('the webhooks', async () =>
      Object.values(ids).every((id) => receiver.received.some(({ event }) => event.data.task_id === id)),
    );
    await eventually('the last delivery to be noted', async () => {
      const rows = await queryOnce(before.database.url, 'select from webhook_dispatches where delivered_at is null');
      return rows.length === 0;
    });
    await before.close();
    submits = ark.submits + openai.submits;
    told = receiver.received.length;
    database = await emptyDatabase();
  });
  afterAll(async () => {
    await database?.drop();
    await Promise.all([ark.stop(), openai.stop(), receiver.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('buys nothing and tells nothing a second time, and resumes what can be asked for', async () => {
    const { env } = await testEnv(database.url, settings);
    const restore = await darkroom(['restore', join(folder, 'backup')], env);
    expect([restore.code, restore.err]).toEqual([0, expect.stringContaining(`RESTORED_FROM=${takenAt}`)]);

    const service = await startOwnService({ ...env, RESTORED_FROM: takenAt }, database);
    const api = new Api(service.baseUrl, before.api.key);
    try {
      const ends = await Promise.all(Object.values(ids).map((id) => api.untilFinal(id)));
      expect(ends.map(({ status, error }) => error?.code ?? status)).toEqual([
        'succeeded',
        'succeeded',
        'provider_outcome_unknown',
        'provider_outcome_unknown',
      ]);
      expect(ark.submits + openai.submits).toBe(submits);

      // New work goes on as ever. Its event would come after those that the backup holds, which are due already.
      for (const nth of [1, 2]) {
        const { body } = await api.create(aCat);
        expect((await api.untilFinal(body.task_id)).status).toBe('succeeded');
        const sent = await receiver.until(told + nth);
        expect(sent.slice(told + nth - 1).map(({ event }) => event.data.task_id)).toEqual([body.task_id]);
      }
      expect(ark.submits + openai.submits).toBe(submits + 2);
    } finally {
      await service.close();
    }
  });

  it('sends what waits when an operator replays it, also after a second start', async () => {
    const { env } = await testEnv(database.url, { ...settings, RESTORED_FROM: takenAt });
    const service = await startOwnService(env, database);
    const api = new Api(service.baseUrl, before.api.key);
    try {
      const from = receiver.received.length;
      const since = Math.floor(Date.parse(takenAt) / 1000) - 3600;
      const { status, body } = await api.call<{ total: number }>('POST', '/v1/operations/webhooks/replay', { since });
      expect([status, body.total]).toEqual([expect.any(Number), 4]);
      await receiver.until(from + 4);
      const again = receiver.received.slice(from).map(({ event }) => event.data.task_id);
      expect(again.toSorted()).toEqual(Object.values(ids).toSorted());
    } finally {
      await service.close();
    }
  });

  it.each(['yesterday', '2999-01-01T00:00:00Z'])('refuses the time %s', (value) => {
    expect(() => loadConfig({ RESTORED_FROM: value })).toThrow(ConfigError);
    expect(() => loadConfig({ RESTORED_FROM: value })).toThrow(`RESTORED_FROM must be a time in the past`);
    expect(() => loadConfig({ RESTORED_FROM: value })).toThrow(value);
  });
});
