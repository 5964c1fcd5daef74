import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/database/embedded/embedded-postgres.ts';
import { testEnv } from '../support/test-env.ts';
import { aCat, aFailure, type ErrorBody } from '../support/clients/api.ts';
import { launchService, type ServiceProcess, spawnService } from '../support/process.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { TEST_FOLDER } from '../support/test-context.ts';
import { eventually } from '../support/wait.ts';

/** A server of its own, because its only role gets other passwords. */
describe('a SIGHUP', () => {
  const folder = mkdtempSync(join(process.env[TEST_FOLDER] ?? tmpdir(), 'reload-'));
  const openai = new OpenaiStub();
  let server: EmbeddedPostgres;
  let url: string;
  let service: ServiceProcess;
  let env: Record<string, string>;

  const put = (name: string, value: string): string => {
    const path = join(folder, name);
    writeFileSync(path, value);
    return path;
  };

  beforeAll(async () => {
    await openai.start();
    server = await startEmbeddedPostgres(join(folder, 'server'), { fsync: false });
    url = server.url;
    ({ env } = await testEnv('', {
      LOG_LEVEL: 'info',
      SHUTDOWN_GRACE_S: '5',
      PROVIDER_POLL_INTERVAL_MS: '200',
      DATABASE_URL_FILE: put('url', url),
      OPENAI_API_KEY_FILE: put('openai', openai.key),
      KEY_OF_FILMS_FILE: put('films', openai.key),
      OPENAI_BASE_URL: openai.baseUrl,
      PROVIDERS: put(
        'providers.yaml',
        `models:
  gpt-image-2: [{ provider: openai, model: gpt-image-2 }]
  sora-2: [{ provider: openai, model: sora-2, credential: KEY_OF_FILMS }]`,
      ),
    }));
    delete env.DATABASE_URL;
    service = await spawnService(env);
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await openai.stop();
    await server?.leave();
    await rm(folder, { recursive: true, force: true });
  });

  /** @returns what the log says about a variable */
  const reload = async (event: string, variable: string): Promise<string> => {
    const line = () =>
      service
        .output()
        .split('\n')
        .filter((text) => text.includes(event) && text.includes(variable));
    const before = line().length;
    service.child.kill('SIGHUP');
    await eventually(event, async () => line().length > before);
    return line().at(-1)!;
  };
  const withPassword = (password: string): string => Object.assign(new URL(url), { password }).href;
  /** As an operator does it, who then writes the file. */
  const changePassword = async (password: string): Promise<void> => {
    await asOperator(`alter role current_user password '${password}'`);
    url = withPassword(password);
  };
  const asOperator = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  /** The next statement of the service needs a new connection, and so does its bus. */
  const cutConnections = () =>
    asOperator(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'darkroom%'`);
  const canWrite = async () => (await service.api.create(aFailure)).status === 201;
  const expectConnected = async () => {
    await eventually('a new connection', canWrite);
    await eventually('the bus', async () => {
      const { body } = await service.api.get<{ checks: Record<string, string> }>('/readyz');
      return body.checks.events === 'ok' && body.checks.database === 'ok';
    });
  };

  it('puts a new password of the database in force, while requests go on', async () => {
    await changePassword('second');
    put('url', url);
    const waiting = service.api.create({ model: 'gpt-image-2', prompt: 'A cat' }, { prefer: 'wait=60' });
    expect(await reload('setting.reloaded', 'DATABASE_URL')).toContain('"level":"info"');
    expect((await waiting).body.status).toBe('succeeded');
    await cutConnections();
    await expectConnected();
  });

  it('leaves the password in force when the file is broken, or names another database', async () => {
    for (const [content, fault] of [
      ['', 'is empty'],
      ['mysql://a:b@c/d', 'must be an address starting with postgres://'],
      [withPassword('third').replace(/\/[^/]*$/, '/other'), 'must differ in user and password only'],
    ] as const) {
      put('url', content);
      expect(await reload('setting.refused', 'DATABASE_URL')).toContain(fault);
    }
    expect(service.output()).not.toContain('third');
    await cutConnections();
    await expectConnected();
    put('url', url);
  });

  it('puts a new credential of a provider in force, and keeps the old one if its file is missing', async () => {
    put('openai', 'sk-revoked-at-the-provider');
    await reload('setting.reloaded', 'OPENAI_API_KEY');
    const refused = await service.api.create<ErrorBody & { status: string }>(aCat, { prefer: 'wait=60' });
    expect(refused.body.status).toBe('failed');
    put('openai', openai.key);
    // The line of this reload is that of the last one, and such a line is written once in ten seconds.
    service.child.kill('SIGHUP');
    const succeeds = async () => (await service.api.create(aCat, { prefer: 'wait=60' })).body.status === 'succeeded';
    await eventually('a picture', succeeds);
    await rm(join(folder, 'openai'));
    expect(await reload('setting.refused', 'OPENAI_API_KEY')).toContain('ENOENT');
    put('openai', 'sk-one-line\nsk-another-line');
    expect(await reload('setting.refused', 'OPENAI_API_KEY')).toContain('must be one line');
    expect(await succeeds()).toBe(true);
    expect(service.output()).not.toContain('sk-revoked');
    put('openai', openai.key);
  });

  it('lets a film that is being polled go on with the new credential', async () => {
    openai.pollsToComplete = 1_000_000;
    const { status, body } = await service.api.create({
      model: 'sora-2',
      prompt: 'A boat',
      resolution: '720P',
      duration: 4,
    });
    expect(status).toBe(201);
    await eventually('a poll', async () => [...openai.jobs.values()].some(({ polls }) => polls > 0));
    const first = openai.key;
    openai.secondKey = 'sk-another';
    put('films', 'sk-another');
    await reload('setting.reloaded', 'KEY_OF_FILMS');
    openai.key = 'sk-another'; // the first one is revoked
    openai.pollsToComplete = 0;
    expect((await service.api.untilFinal(body.task_id)).status).toBe('succeeded');
    openai.secondKey = first; // of the pictures
  });

  it('that comes while the process starts is kept until it has started', async () => {
    const path = join(folder, 'openai-late');
    execFileSync('mkfifo', [path]); // whoever reads it waits until it is written
    const { env: own } = await testEnv(url);
    const { PORT, PUBLIC_URL, DATA_DIR } = own as Record<string, string>;
    const { LOG_LEVEL: _, ...settings } = { ...env, PORT, PUBLIC_URL, DATA_DIR } as Record<string, string>;
    const late = launchService({ ...settings, OPENAI_API_KEY_FILE: path });
    try {
      const pipe = await open(path, 'w'); // the process has read .env, and reads its secrets now
      writeFileSync(join(DATA_DIR!, '.env'), 'LOG_LEVEL=debug');
      for (let sent = 0; sent < 3; sent += 1) late.child.kill('SIGHUP');
      await rename(put('openai-next', openai.key), path);
      await pipe.write(openai.key);
      await pipe.close();
      await late.untilReady();
      await eventually('the signal to be served', async () =>
        /"log_levels\.changed"[^\n]*"log_level":"debug"/.test(late.output()),
      );
      expect((await late.api.get('/readyz')).status).toBe(200);
    } finally {
      await late.kill('SIGKILL');
    }
  });

  it('changes nothing when the file .env cannot be read', async () => {
    const file = join(env.DATA_DIR!, '.env');
    await mkdir(file);
    expect(await reload('log_levels.refused', 'EISDIR')).toContain('"level":"warn"');
    expect((await service.api.create(aCat, { prefer: 'wait=60' })).body.status).toBe('succeeded');
    await rm(file, { recursive: true });
  });
});
