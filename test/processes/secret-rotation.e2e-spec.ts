import { rm } from 'node:fs/promises';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { checkInstallation } from '../../src/cli/installation/installation-checks.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { Secrets } from '../../src/platform/config/secrets.ts';
import { type Service, startService } from '../../src/start-service.ts';
import { testEnv } from '../support/test-env.ts';
import { aCat, Api, aFailure } from '../support/clients/api.ts';
import { Browser } from '../support/clients/browser.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

const OLD = '1a'.repeat(32);
const NEW = '2b'.repeat(32);
const idOf = (key: string) => new Secrets([Buffer.from(key, 'hex')]).keyId;

interface Process {
  api: Api;
  stop(): Promise<void>;
}

describe('a SECRET_KEY that is replaced', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let receiver: Receiver;
  let sql: Client;
  const running = new Set<Service>();

  beforeAll(async () => {
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, { TASK_SWEEP_S: '0.5', FILE_RETENTION_DAYS: '1' }));
    receiver = await Receiver.start();
    sql = new Client({ connectionString: database.url });
    await sql.connect();
  });
  afterAll(async () => {
    await Promise.all([...running].map((service) => service.stop()));
    await sql.end();
    await receiver.stop();
    await database.drop();
    await rm(env.DATA_DIR!, { recursive: true, force: true });
  });

  /** @param keys newest first */
  async function start(...keys: string[]): Promise<Process> {
    const PORT = String(await freePort());
    const all = { ...env, PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}`, SECRET_KEY: keys.join(', ') };
    const service = await startService(loadConfig(all));
    running.add(service);
    const stop = async () => {
      if (running.delete(service)) await service.stop();
    };
    return { api: new Api(all.PUBLIC_URL, env.BOOTSTRAP_API_KEY!), stop };
  }

  const newKey = async ({ api }: Process) => {
    const { status, body } = await api.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name: 'tenant' });
    expect(status).toBe(201);
    return body;
  };
  const statusOf = async (key: string, { api }: Process) => (await new Api(api.baseUrl, key).get('/v1/models')).status;
  const linkOf = async ({ api }: Process) => {
    const { body } = await api.create(aCat, { prefer: 'wait=60' });
    const { pathname, search } = new URL(body.result!.outputs[0]!.url);
    return pathname + search;
  };
  const linkStatus = async (link: string, { api }: Process) => (await new Api(api.baseUrl, null).get(link)).status;
  /** The next event of a failed task arrives signed with this secret. */
  const expectSigned = async ({ api }: Process, secret: string) => {
    const { body } = await api.create(aFailure, { prefer: 'wait=60' });
    const arrived = await eventually('the event', async () =>
      receiver.received.find(({ event }) => event.data.task_id === body.task_id),
    );
    new Webhook(secret).verify(arrived.body, arrived.headers as Record<string, string>);
  };
  /** As when 90 s have passed since the last process with this newest key. */
  const forgetProcessesWith = (key: string) =>
    sql.query(`update secret_keys set newest_at = now() - interval '2 minutes' where id = $1`, [idOf(key)]);
  const keyIdOfHash = async (apiKeyId: string) =>
    (await sql.query('select secret_key_id from api_key_secrets where api_key_id = $1', [apiKeyId])).rows[0]
      .secret_key_id as string | null;
  const keyIdOfEndpoint = async (id: string) =>
    (await sql.query('select secret_key_id from webhook_endpoints where id = $1', [id])).rows[0].secret_key_id;
  const doctor = async (...keys: string[]) => {
    const given = { ...process.env };
    Object.assign(process.env, env, { SECRET_KEY: keys.join() });
    try {
      return (await checkInstallation()).find(({ check }) => check === 'older secret keys');
    } finally {
      process.env = given;
    }
  };

  it('breaks nothing in any step of a rolling update, and can be removed when doctor says so', async () => {
    // What there is with the old key alone. A row of an earlier release says nothing about its key.
    const before = await start(OLD);
    const tenant = await newKey(before);
    const silent = await newKey(before);
    await sql.query('update api_key_secrets set secret_key_id = null where api_key_id = $1', [silent.id]);
    const endpoint = await new WebhookClient(before.api).endpoint(receiver.url, { events: ['task.failed'] });
    await sql.query('update webhook_endpoints set secret_key_id = null where id = $1', [endpoint.id]);
    const browser = new Browser(before.api.baseUrl);
    expect((await browser.signIn({ api_key: tenant.key })).status).toBe(201);
    const oldLink = await linkOf(before);
    expect((await doctor(OLD))?.note).toBe('none are set, and none are needed');

    // First step: the new key is added as the last.
    const added = await start(OLD, NEW);
    for (const process of [before, added]) {
      expect(await statusOf(tenant.key, process)).toBe(200);
      expect(await linkStatus(oldLink, process)).toBe(200);
    }
    await before.stop();

    // Second step: the new key becomes the first. What it makes, processes of the first step can read.
    const swapped = await start(NEW, OLD);
    const fresh = await newKey(swapped);
    const newLink = await linkOf(swapped);
    for (const process of [added, swapped]) {
      for (const { key } of [tenant, silent, fresh]) expect(await statusOf(key, process)).toBe(200);
      expect(await linkStatus(oldLink, process)).toBe(200);
      expect(await linkStatus(newLink, process)).toBe(200);
    }
    await expectSigned(added, endpoint.secret);
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // longer than a renewal waits
    // Nothing is moved as long as processes differ.
    expect(await keyIdOfHash(tenant.id)).toBe(idOf(OLD));
    expect(await keyIdOfEndpoint(endpoint.id)).not.toBe(idOf(NEW));
    expect((await doctor(NEW, OLD))?.note).toMatch(
      /still needed by 3 API keys .* and 1 webhook endpoints and file links/,
    );
    await added.stop();
    await swapped.stop();

    // All processes have it: the endpoints are sealed again, and keys are renewed when they are used.
    await forgetProcessesWith(OLD);
    const agreed = await start(NEW, OLD);
    await eventually('the new seal', async () => (await keyIdOfEndpoint(endpoint.id)) === idOf(NEW));
    await expectSigned(agreed, endpoint.secret);
    expect(await statusOf(tenant.key, agreed)).toBe(200);
    await eventually('the new hash', async () => (await keyIdOfHash(tenant.id)) === idOf(NEW));
    const report = await doctor(NEW, OLD);
    expect(report).toMatchObject({ ok: true, note: expect.stringContaining(`1 API keys (${silent.id})`) });
    expect(report!.note).toMatch(/and file links until .*: keep all keys of SECRET_KEY$/);
    expect(await statusOf(silent.key, agreed)).toBe(200);
    await eventually('the new hash', async () => (await keyIdOfHash(silent.id)) === idOf(NEW));
    await agreed.stop();

    // Removed too early, for the links: this is said, and it is put right by adding the key again.
    await sql.query(`update secret_keys set newest_at = now() - interval '3 days' where id = $1`, [idOf(OLD)]);
    expect(await doctor(NEW, OLD)).toEqual({
      check: 'older secret keys',
      ok: true,
      note: 'nothing needs them: remove all keys but the first from SECRET_KEY',
    });

    // Third step: the old key is removed.
    const alone = await start(NEW);
    for (const { key } of [tenant, silent, fresh]) expect(await statusOf(key, alone)).toBe(200);
    expect(await linkStatus(newLink, alone)).toBe(200);
    expect(await linkStatus(oldLink, alone)).toBe(403);
    await expectSigned(alone, endpoint.secret);
    const session = { cookie: browser.cookie };
    expect((await new Api(alone.api.baseUrl, null).get('/v1/session', session)).status).toBe(200);
    expect((await doctor(NEW))?.note).toBe('none are set, and none are needed');
    expect((await sql.query('select count(*)::int as n from api_keys')).rows[0].n).toBe(4); // the bootstrap key once
    await alone.stop();
  });

  it('is missed by name when it is removed too early', async () => {
    const other = '3c'.repeat(32);
    expect(await doctor(other, OLD)).toMatchObject({
      ok: false,
      note: expect.stringMatching(
        /^a key that is not in SECRET_KEY is needed by 4 API keys .* and 1 webhook endpoints:/,
      ),
    });
  });

  it('leaves processes alone that do not know it yet', async () => {
    await sql.query(`delete from secret_keys`);
    const behind = await start(NEW);
    const tenant = await newKey(behind);
    const ahead = await start('3c'.repeat(32), NEW);
    expect(await statusOf(tenant.key, ahead)).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await statusOf(tenant.key, behind)).toBe(200);
    expect(await keyIdOfHash(tenant.id)).toBe(idOf(NEW));
    await Promise.all([ahead.stop(), behind.stop()]);
  });
});
