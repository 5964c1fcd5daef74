import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { aCat, aHang } from '../support/clients/api.ts';
import { testEnv, withPatience } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { allReady, type ServiceProcess, spawnService } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const DELAY_S = 6;
const STOPS = process.env.DARKROOM_TEST_LONG ? 10 : 1;

/** Sends one request after another on one connection, until an answer or the server ends it. */
function useConnection(baseUrl: string, pauseMs: number): { answers(): number; ending: Promise<string> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let answers = 0;
  const next = () =>
    new Promise<string | undefined>((resolve, reject) => {
      get(`${baseUrl}/openapi.json`, { agent, method: 'HEAD' }, (answer) => {
        answers++;
        answer
          .resume()
          .on('end', () => resolve(answer.headers.connection))
          .on('error', reject);
      }).on('error', reject);
    });
  const use = async (): Promise<string> => {
    while ((await next()) !== 'close') await sleep(pauseMs);
    return 'closed by an answer';
  };
  const ending = use().catch((error: Error) => `${error.message} after ${answers} answers`);
  return { answers: () => answers, ending: ending.finally(() => agent.destroy()) };
}

describe('stopping', () => {
  let database: TestDatabase;
  /** Runs tasks and serves the API. */
  let whole: ServiceProcess;
  /** Serves the API only. */
  let front: ServiceProcess;
  /** Would serve for a long time after the signal. */
  let slow: ServiceProcess;
  let start: (settings: Record<string, string>) => Promise<ServiceProcess>;
  beforeAll(async () => {
    database = await cloneDatabase();
    const { env } = await testEnv(withPatience(database.url));
    start = async (settings) => {
      const PORT = String(await freePort());
      return spawnService({ ...env, PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}`, ...settings });
    };
    const SHUTDOWN_DELAY_S = String(DELAY_S);
    [whole, front, slow] = await allReady([
      start({ SHUTDOWN_DELAY_S: '60' }),
      start({ ROLE: 'api', SHUTDOWN_DELAY_S }),
      start({ ROLE: 'api', SHUTDOWN_DELAY_S: '600' }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([whole, front, slow].map((service) => service?.kill('SIGKILL')));
    await database.drop();
  });

  const ended = (service: ServiceProcess) =>
    eventually('the process to end', async () => service.child.exitCode !== null);
  const statusOf = async ({ api }: ServiceProcess, path: string) => (await fetch(`${api.baseUrl}${path}`)).status;
  const isUnready = async (service: ServiceProcess) => (await statusOf(service, '/readyz?of=process')) === 503;

  it('turns /readyz to 503 at the signal, and when SHUTDOWN_DELAY_S is over answers open waits and ends', async () => {
    const { body } = await front.api.create(aHang);
    const waits = Array.from({ length: 100 }, () => front.api.get(`/v1/tasks/${body.task_id}?wait=60`));
    const creation = front.api.create(aHang, { prefer: 'wait=60' });
    expect(await statusOf(front, '/readyz')).toBe(200);
    front.child.kill('SIGTERM');
    const signalledAt = performance.now();
    await eventually('readyz to say no', () => isUnready(front));
    for (const { status } of await Promise.all(waits)) expect(status).toBe(200);
    expect((await creation).status).toBe(201);
    await ended(front);
    const took = performance.now() - signalledAt;
    expect(took).toBeGreaterThan(DELAY_S * 1000 - 100);
    expect(took).toBeLessThan(50_000); // the waits would have lasted for 60 s
  });

  it('serves while it drains, but starts no task, which another process takes', async () => {
    whole.child.kill('SIGTERM');
    await eventually('readyz to say no', () => isUnready(whole));
    expect(await statusOf(whole, '/healthz')).toBe(200);
    expect((await whole.api.get('/v1/models')).status).toBe(200);
    const { status, body } = await whole.api.create(aCat);
    expect(status).toBe(201);
    await sleep(2_000); // four polls of the queue
    expect((await whole.api.get(`/v1/tasks/${body.task_id}`)).body.status).toBe('queued');
    const worker = await start({ ROLE: 'worker' });
    await slow.api.until(body.task_id, 'succeeded').finally(() => worker.kill('SIGKILL'));
  });

  it(
    'lets 200 kept connections go without a reset',
    async () => {
      for (let stop = 0; stop < STOPS; stop++) {
        const leaving = await start({ ROLE: 'api' });
        const connections = Array.from({ length: 200 }, (_, at) => useConnection(leaving.api.baseUrl, (at % 10) * 40));
        await eventually('requests on each connection', async () => connections.every(({ answers }) => answers() > 1));
        leaving.child.kill('SIGTERM');
        const endings = await Promise.all(connections.map(({ ending }) => ending));
        expect(endings.filter((ending) => ending !== 'closed by an answer')).toEqual([]);
        await ended(leaving);
      }
    },
    STOPS * 300_000,
  );

  it('takes the signal of a process manager, which npm repeats, for one, and ends at once at a later one', async () => {
    slow.child.kill('SIGTERM');
    await sleep(100);
    slow.child.kill('SIGTERM');
    await sleep(1_500);
    expect(slow.child.exitCode).toBeNull();
    expect(await isUnready(slow)).toBe(true);
    slow.child.kill('SIGTERM');
    await ended(slow);
    expect(slow.child.exitCode).toBe(1);
  });
});
