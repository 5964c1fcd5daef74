import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { cloneDatabase } from '../../../support/database.ts';
import { type OwnService, startOwnService } from '../../../support/service.ts';
import { describeWith, say } from '../tools.ts';
import { CREDENTIALS, startVersityGateway } from './versitygw.ts';

const TASKS = 2_000;
/** Milliseconds that the way to the store adds to each call. */
const SLOW = 50;
/**
 * One folder after the other, two workers would delete 20/s: each folder is two calls. How many more depends on the
 * machine.
 */
const LEAST_PER_S = 20;
/** Folders that two workers delete at the same time. */
const AT_ONCE = 64;

/** Passes everything on, and answers later. */
function slowWayTo(port: number): Server & { peak: number } {
  const open = new Set<Socket>();
  const way: Server & { peak: number } = Object.assign(
    createServer((client: Socket) => {
      open.add(client);
      way.peak = Math.max(way.peak, open.size);
      const server = connect(port, '127.0.0.1');
      client.pipe(server);
      server.on('data', (chunk) => setTimeout(() => client.writable && client.write(chunk), SLOW));
      server.on('close', () => setTimeout(() => client.destroy(), SLOW)).on('error', () => client.destroy());
      client.on('close', () => (open.delete(client), server.destroy())).on('error', () => server.destroy());
    }),
    { peak: 0 },
  );
  return way;
}

describeWith({ versitygw: 'go install github.com/versity/versitygw/cmd/versitygw@v1.8.0' }, 'a bucket far away', () => {
  let server: Awaited<ReturnType<typeof startVersityGateway>>;
  let way: ReturnType<typeof slowWayTo>;
  const workers: OwnService[] = [];
  const before = { ...process.env };

  beforeAll(async () => {
    Object.assign(process.env, CREDENTIALS);
    server = await startVersityGateway();
    way = slowWayTo(Number(new URL(server.endpoint).port));
    await once(way.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    way?.close();
    await server?.stop();
    process.env = before;
  });

  it('does not make the purge late: two workers delete 64 folders at once', async () => {
    const database = await cloneDatabase();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const idOf = (nth: number) => `task_${String(nth).padStart(26, '0')}`;
    for (let nth = 1; nth <= TASKS; nth++) {
      const folder = join(server.bucket, idOf(nth));
      mkdirSync(folder);
      for (const name of ['1-0.png', 'preview-0-256.webp']) writeFileSync(join(folder, name), 'x');
    }
    await client.query(
      `insert into tasks_done (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at, files_expire_at)
       select 'task_' || lpad(nth::text, 26, '0'), 'key_1', 'image', 'gpt-image-2', 'succeeded', '{}', now(), now(), now(),
              now() - interval '1 day', now() - interval '2 days'
       from generate_series(1, $1::int) as nth`,
      [TASKS],
    );
    const left = async () => (await client.query<{ n: number }>('select count(*)::int as n from tasks')).rows[0]!.n;
    try {
      const { port } = way.address() as AddressInfo;
      const STORAGE_URL = `s3://results?endpoint=http://127.0.0.1:${port}`;
      for (let nth = 0; nth < 2; nth++)
        workers.push(await startOwnService({ ...CREDENTIALS, ROLE: 'worker', STORAGE_URL }, database));
      while ((await left()) === TASKS) await sleep(20);
      const [begun, first] = [performance.now(), await left()];
      for (let now = first; now > 0; now = await left()) await sleep(50);
      const perSecond = first / ((performance.now() - begun) / 1_000);
      say(`the purge deletes ${Math.round(perSecond)} tasks/s with a store ${SLOW} ms away`);
      expect(way.peak).toBeGreaterThanOrEqual(AT_ONCE);
      expect(perSecond).toBeGreaterThan(LEAST_PER_S);
      expect(readdirSync(server.bucket).filter((name) => name.startsWith('task_'))).toEqual([]);
    } finally {
      await Promise.all(workers.splice(0).map((worker) => worker.close()));
      await client.end();
      await database.drop();
    }
  });
});
