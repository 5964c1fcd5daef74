import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newApiKey } from '../../../../src/auth/credentials/api-key-format.ts';
import { testEnv } from '../../../support/test-env.ts';
import { aCat, aFailure, Api, type ErrorBody } from '../../../support/clients/api.ts';
import { EventReader } from '../../../support/clients/event-reader.ts';
import { GraphqlClient } from '../../../support/clients/graphql-client.ts';
import { anotherKey } from '../../../support/clients/graphql-keys.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts';
import { freePort } from '../../../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../../../support/process.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith, findTool } from '../tools.ts';

const FOLDER = new URL('../../../../deploy/haproxy/', import.meta.url).pathname;
const PROGRAM = new URL('../../../../dist/cli/darkroom.js', import.meta.url).pathname;
const CELLS = ['ea', 'eb'] as const;

interface Cell {
  name: string;
  database: TestDatabase;
  service: ServiceProcess;
  /** Made before CELL was set. It begins as the keys of the other cell do. */
  oldKey: string;
  /** Made after. */
  key: string;
}

describeWith({ haproxy: 'Debian: haproxy' }, 'HAProxy before two cells', () => {
  const cells: Cell[] = [];
  let router: Awaited<ReturnType<typeof startRouter>>;

  beforeAll(async () => {
    cells.push(...(await Promise.all(CELLS.map((name, nth) => startCell(name, CELLS[1 - nth]!)))));
    router = await startRouter(cells);
  });
  afterAll(async () => {
    await router?.stop();
    for (const { service, database } of cells) {
      await service.kill('SIGKILL');
      await database.drop();
    }
  });

  it('accepts the configuration as it is shipped', () => {
    const checked = execFileSync(findTool('haproxy')!, ['-c', '-f', join(FOLDER, 'cells.cfg')], { encoding: 'utf8' });
    expect(checked).toContain('Configuration file is valid');
  });

  it('leads each key to its own cell over REST, GraphQL and SSE', async () => {
    for (const { name, service, key } of cells) {
      expect(key).toMatch(new RegExp(`^dr_${name}[0-9A-Za-z]{44}$`));
      const api = new Api(router.url, key);
      const all = await EventReader.open(router.url, '/v1/events', key);
      const created = await api.create(aCat);
      expect(created.status).toBe(201);
      const id = created.body.task_id;
      const done = await api.untilFinal(id);
      expect(done.status).toBe('succeeded');
      // Links name the cell by its own address.
      expect(done.result!.outputs[0]!.url).toContain(`${service.api.baseUrl}/`);
      await all.until('the end', () => all.of(id).some(({ status }) => status === 'succeeded'), 20_000);
      all.close();

      const graphql = new GraphqlClient(router.url, key);
      const { data } = await graphql.ask('{ viewer { endpoint } tasks { edges { node { taskId } } } }');
      expect(data).toEqual({
        viewer: { endpoint: service.api.baseUrl },
        tasks: { edges: [{ node: { taskId: id } }] },
      });
      // The task is nowhere else.
      expect((await new Api(service.api.baseUrl, key).get(`/v1/tasks/${id}`)).status).toBe(200);
      const other = cells.find((cell) => cell.name !== name)!;
      expect((await other.service.api.get(`/v1/tasks/${id}`)).status).toBe(404);
      expect((await new Api(other.service.api.baseUrl, key).get('/v1/models')).status).toBe(401);
    }
  });

  it('leads sockets, whose key comes in a message, by the endpoint of the viewer', async () => {
    for (const { service, key } of cells) {
      const { data } = await new GraphqlClient(router.url, key).ask<{ viewer: { endpoint: string } }>(
        '{ viewer { endpoint } }',
      );
      const direct = new GraphqlClient(data.viewer.endpoint, key);
      const { body } = await new Api(router.url, key).create(aFailure);
      const followed = direct.follow<{ taskUpdated: { status: string } }>(
        'subscription One($id: String!) { taskUpdated(taskId: $id) { status } }',
        { id: body.task_id },
      );
      await followed.ended;
      expect(followed.data.at(-1)!.taskUpdated.status).toBe('FAILED');
      expect(direct.baseUrl).toBe(service.api.baseUrl);
      await direct.close();
    }
  });

  it('leads keys that are older than the cells by the map, also when they begin like those of another cell', async () => {
    for (const { service, oldKey, name } of cells) {
      expect(oldKey.slice(3, 5)).not.toBe(name);
      const { data } = await new GraphqlClient(router.url, oldKey).ask('{ viewer { endpoint } }');
      expect(data).toEqual({ viewer: { endpoint: service.api.baseUrl } });
    }
  });

  it('keeps the cell of a key in its rotation', async () => {
    for (const { name, service, oldKey } of cells) {
      const { id } = await anotherKey(service.api);
      const rotated = await new Api(router.url, oldKey).call<{ key: string }>('POST', `/v1/api_keys/${id}/rotate`);
      expect([rotated.status, rotated.body.key.slice(0, 5)]).toEqual([200, `dr_${name}`]);
      expect((await new Api(router.url, rotated.body.key).get('/v1/models')).status).toBe(200);
    }
  });

  it('prints a key of the cell for BOOTSTRAP_API_KEY', () => {
    const printed = execFileSync(process.execPath, [PROGRAM, 'keys', 'create', '--print-only'], {
      env: { PATH: process.env.PATH, CELL: 'ea' },
      encoding: 'utf8',
    });
    expect(printed).toMatch(/^dr_ea\w{44}\n$/);
  });

  it('leads requests to the host of a cell there, whatever their key', async () => {
    const [, eb] = cells as [Cell, Cell];
    const statusAt = async (host: string): Promise<string> =>
      execFileSync(
        'curl',
        [
          '-s',
          '-o',
          '/dev/null',
          '-w',
          '%{http_code}',
          '-H',
          `Host: ${host}`,
          '-H',
          `Authorization: Bearer ${eb.key}`,
          `${router.url}/v1/models`,
        ],
        { encoding: 'utf8' },
      );
    expect(await statusAt('eb.darkroom.example.com')).toBe('200');
    expect(await statusAt('EA.darkroom.example.com:8080')).toBe('401');
  });

  it('answers requests without a key, and with an unknown one, as a single service does', async () => {
    expect((await fetch(`${router.url}/openapi.json`)).status).toBe(200);
    for (const [key, code] of [
      [null, 'missing_api_key'],
      [newApiKey('zz'), 'invalid_api_key'],
      [newApiKey('eb'), 'invalid_api_key'],
    ] as const) {
      const { status, body } = await new Api(router.url, key).get<ErrorBody>('/v1/tasks');
      expect([status, body.error.code]).toEqual([401, code]);
    }
  });
});

async function startCell(name: string, other: string): Promise<Cell> {
  const database = await cloneDatabase();
  const oldKey = newApiKey(other);
  const { env } = await testEnv(database.url, { CELL: name, BOOTSTRAP_API_KEY: oldKey });
  const service = await spawnService(env);
  const { key } = await anotherKey(service.api, { scopes: ['generations:write', 'tasks:read'] });
  return { name, database, service, oldKey, key };
}

/** HAProxy with the configuration and the maps that the project ships, but for its port, its servers and the old keys. */
async function startRouter(cells: readonly Cell[]): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-cells-'));
  let text = readFileSync(join(FOLDER, 'cells.cfg'), 'utf8').replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`);
  for (const { name, service } of cells) {
    text = text.replace(
      new RegExp(`^ {2}server ${name}1 .*$`, 'm'),
      `  server ${name}1 ${new URL(service.api.baseUrl).host}`,
    );
    text = text.replace(new RegExp(`^ {2}server ${name}2 .*\n`, 'm'), '');
  }
  const hashes = cells.map(({ name, oldKey }) => `${createHash('sha256').update(oldKey).digest('hex')} cell_${name}`);
  writeFileSync(join(folder, 'cells.cfg'), text);
  writeFileSync(join(folder, 'cells.map'), readFileSync(join(FOLDER, 'cells.map')));
  writeFileSync(
    join(folder, 'old-keys.map'),
    `${readFileSync(join(FOLDER, 'old-keys.map'), 'utf8')}${hashes.join('\n')}\n`,
  );
  const child = spawn(findTool('haproxy')!, ['-f', join(folder, 'cells.cfg')], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await eventually('HAProxy to find both cells', async () => {
    if (child.exitCode !== null) throw new Error(output);
    const found = cells.map(({ oldKey }) => new Api(url, oldKey).get('/v1/models').catch(() => null));
    return (await Promise.all(found)).every((answer) => answer?.status === 200);
  });
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
