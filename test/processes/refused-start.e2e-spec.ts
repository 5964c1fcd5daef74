import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { queryOnce } from '../support/faults/watch.ts';
import { freePort } from '../support/free-port.ts';
import { MAIN, spawnService } from '../support/process.ts';
import { cloneDatabase } from '../support/database.ts';
import { testEnv } from '../support/test-env.ts';
import { makeTestFolder, removeTestFolder } from '../support/test-context.ts';

describe('a start that is refused', () => {
  let folder: string;
  beforeEach(() => (folder = makeTestFolder()));
  afterEach(() => removeTestFolder(folder));

  /** @returns what it has printed, after it has ended with code 1 */
  async function refusalOf(settings: Record<string, string>): Promise<string> {
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: join(folder, 'data'), ...settings },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = await once(child, 'exit');
    expect(code).toBe(1);
    return output;
  }

  function write(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  }

  it('names every fault of its settings and of the files that they name, and starts no database', async () => {
    const binding = '{ provider: comfyui, model: ./none.json, base_url: http://127.0.0.1:9 }';
    const keyed = '{ provider: fal, model: film, credential: MY_KEY }';
    const output = await refusalOf({
      PORT: 'many',
      OPENAI_API_KEY_FILE: join(folder, 'absent'),
      PROVIDERS: write('providers.yaml', `models:\n  gpt-image-2: [${binding}]\n  sora-9: []\n  sora-2: [${keyed}]\n`),
      MY_KEY_FILE: join(folder, 'absent'),
      PROVENANCE: 'c2pa',
      C2PA_CERT: write('cert.pem', 'nothing'),
      C2PA_KEY: join(folder, 'key.pem'),
      DATABASE_DIRECT_URL: `postgres://127.0.0.1:9/none?sslrootcert=${folder}/ca.pem&sslkey=${folder}`,
    });
    for (const fault of [
      'PORT must be a number from 0 to 65535',
      'OPENAI_API_KEY_FILE: ',
      `${folder}/providers.yaml, line 2: gpt-image-2 cannot be served: ./none.json: cannot be read (ENOENT)`,
      `${folder}/providers.yaml, line 3: unknown model "sora-9"`,
      `${folder}/providers.yaml, line 4: MY_KEY_FILE: ${folder}/absent cannot be read (ENOENT)`,
      'C2PA_CERT: ',
      'C2PA_KEY: ',
      'DATABASE_DIRECT_URL names files that cannot be read: sslrootcert (ENOENT), sslkey (EISDIR)',
    ]) {
      expect(output).toContain(`\n  - ${fault}`);
    }
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('names an EVENTS_URL that leads to a sentinel, and starts no database', async () => {
    const info = '# Server\r\nredis_version:7.0.15\r\nredis_mode:sentinel\r\n';
    const stub = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (data) => {
          for (const [command] of data
            .toString()
            .toLowerCase()
            .matchAll(/\b(info|ping|client)\r\n/g)) {
            socket.write(command.startsWith('info') ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
          }
        });
    }).listen(0, '127.0.0.1');
    await once(stub, 'listening');
    const { port } = stub.address() as AddressInfo;
    const output = await refusalOf({ EVENTS_URL: `redis://127.0.0.1:${port}` }).finally(() => stub.close());
    expect(output).toContain('EVENTS_URL leads to a Redis Sentinel');
    expect(existsSync(join(folder, 'data/postgres'))).toBe(false);
  });

  it('leaves no embedded PostgreSQL behind when the address cannot be listened on', async () => {
    const output = await refusalOf({ HOST: '192.0.2.1', PORT: String(await freePort()), LOG_LEVEL: 'silent' });
    expect(output).toContain('Darkroom did not start. It cannot listen at HOST=192.0.2.1 and PORT=');
    expect(existsSync(join(folder, 'data/postgres/PG_VERSION'))).toBe(true);
    const pidFile = join(folder, 'data/postgres/postmaster.pid');
    expect(existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toBe(false);
  });

  it('makes no first key, which is printed only once, when it cannot listen', async () => {
    const database = await cloneDatabase();
    const { env } = await testEnv(database.url, { HOST: '192.0.2.1', BOOTSTRAP_API_KEY: '' });
    await refusalOf(env);
    const keys = await queryOnce(database.url, 'select id from api_keys');
    await database.drop();
    expect(keys).toEqual([]);
  });

  it('gives back the tasks that it took before it could not listen', async () => {
    const database = await cloneDatabase();
    const { env } = await testEnv(database.url, { WORKER_CONCURRENCY: '1' });
    const service = await spawnService(env);
    try {
      const films = [];
      for (let nth = 0; nth < 4; nth += 1) {
        const film = { model: 'sora-2', prompt: `Waves ${nth}`, resolution: '720P', duration: 4 };
        films.push((await service.api.create(film)).body.task_id);
      }
      const output = await refusalOf({ ...env, WORKER_CONCURRENCY: '8' });
      expect(output).toContain(': another program listens there (EADDRINUSE)');
      for (const film of films) expect((await service.api.untilFinal(film)).status).toBe('succeeded');
    } finally {
      await service.kill('SIGKILL');
      await database.drop();
    }
  });
});
