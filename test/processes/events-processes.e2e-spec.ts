import { rm } from 'node:fs/promises';
import { Client } from 'pg';
import { channelsOf } from '../../src/platform/events/channel.ts';
import { Secrets } from '../../src/platform/config/secrets.ts';
import { aCat, aFailure, aHang, Api, type TaskBody } from '../support/clients/api.ts';
import { SECRET_KEY, testEnv } from '../support/test-env.ts';
import { CutLine } from '../support/faults/cut-line.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { allReady, type ServiceProcess, spawnService } from '../support/process.ts';
import { startRedis } from '../support/servers/redis-server.ts';
import { busyness, eventually, leastOf } from '../support/wait.ts';

const ONE = 'subscription One($id: String!) { taskUpdated(taskId: $id) { status progress } }';
const ALL = 'subscription All { tasksUpdated { taskId status progress } }';
interface One {
  taskUpdated: { status: string; progress: number };
}
interface All {
  tasksUpdated: { taskId: string; status: string; progress: number };
}
const aVideo = { model: 'sora-2', prompt: 'Waves #delay:1', resolution: '720P', duration: 5 };

/** One poll waits at most 60 s, and a busy machine may render the video for longer. */
async function longPollUntilFinal(api: Api, taskId: string): Promise<TaskBody> {
  for (;;) {
    const { body } = await api.get(`/v1/tasks/${taskId}?wait=60`);
    if (body.status !== 'queued' && body.status !== 'running') return body;
  }
}

/** test/outside/deploy/redis runs this file over Redis. */
const DRIVER = process.env.DARKROOM_TEST_BUS ?? 'PostgreSQL';

describe(`two API processes and a worker, over ${DRIVER}`, () => {
  let database: TestDatabase;
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
  const processes: ServiceProcess[] = [];
  const folders: string[] = [];
  let line: CutLine;
  let [here, there]: GraphqlClient[] = [];
  let [apiHere, apiThere]: ServiceProcess['api'][] = [];

  beforeAll(async () => {
    database = await cloneDatabase();
    redis = DRIVER === 'Redis' ? await startRedis() : undefined;
    const target = new URL(redis?.url ?? database.url);
    line = await CutLine.to(
      target.hostname,
      Number(target.port),
      (first) => redis !== undefined || first.includes('darkroom:bus'),
    );
    const shared = await testEnv(database.url, { LOG_LEVEL: 'warn' });
    folders.push(shared.dataDir);
    const start = async (role: string, settings: Record<string, string> = {}) => {
      const { PORT: _port, PUBLIC_URL: _url, ...common } = shared.env;
      const { env } = await testEnv(database.url, {
        ...common,
        ROLE: role,
        ...(redis && { EVENTS_URL: redis.url }),
        ...settings,
      });
      const process = await spawnService(env);
      processes.push(process);
      return process;
    };
    const broken = new URL(target);
    broken.host = `127.0.0.1:${line.port}`;
    const [first, second] = await allReady([
      start('api'),
      start('api', redis ? { EVENTS_URL: broken.href } : { DATABASE_URL: broken.href }),
      start('worker'),
    ]);
    [apiHere, apiThere] = [first.api, second.api];
    [here, there] = [first, second].map(({ api }) => new GraphqlClient(api.baseUrl, api.key));
  });
  afterAll(async () => {
    await here?.close();
    await there?.close();
    for (const process of processes) await process.kill('SIGKILL');
    await line?.close();
    await redis?.stop();
    await database?.drop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  const busAt = async (api: Api) => (await api.get<{ checks: { events: string } }>('/readyz')).body.checks.events;

  it('each shows every state of a task made at the other', async () => {
    // The key's only place to run is taken, so that the task under test stays queued until all clients follow it.
    const { key } = await anotherKey(apiHere!, { limits: { max_running: 1 } });
    const clients = [apiHere!, apiThere!].map(({ baseUrl }) => new GraphqlClient(baseUrl, key));
    const apis = [apiHere!, apiThere!].map(({ baseUrl }) => new Api(baseUrl, key));
    const all = clients.map((client) => client.follow<All>(ALL));
    for (const [making, following] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const sse = apis[following]!;
      const hanging = await apis[making]!.create(aHang);
      await apis[making]!.until(hanging.body.task_id, 'running');
      const { body } = await apis[making]!.create(aVideo);
      const followed = clients[following]!.follow<One>(ONE, { id: body.task_id });
      const reader = await EventReader.open(sse.baseUrl, `/v1/tasks/${body.task_id}/events`, key);
      const polled = longPollUntilFinal(sse, body.task_id);
      await eventually('the present states', async () => followed.events.length > 0 && reader.events.length > 0);
      for (const one of all)
        await eventually('it among all tasks', async () =>
          one.data.some(({ tasksUpdated }) => tasksUpdated.taskId === body.task_id),
        );
      await apis[making]!.cancel(hanging.body.task_id);
      await Promise.all([followed.ended, reader.ended]);
      expect((await polled).status).toBe('succeeded');
      for (const states of [followed.data.map(({ taskUpdated }) => taskUpdated), reader.of(body.task_id)]) {
        const names = states.map(({ status }) => status.toLowerCase());
        expect([...new Set(names)]).toEqual(['queued', 'running', 'succeeded']);
        const progress = states.map((state) => state.progress);
        expect(progress.length).toBeGreaterThan(3);
        expect(progress).toEqual(progress.toSorted((a, b) => a - b));
      }
      for (const one of all) {
        const seen = () =>
          one.data
            .filter(({ tasksUpdated }) => tasksUpdated.taskId === body.task_id)
            .map(({ tasksUpdated }) => tasksUpdated.status);
        await eventually('the end among all tasks', async () => seen().at(-1) === 'SUCCEEDED');
        expect([...new Set(seen())]).toEqual(['QUEUED', 'RUNNING', 'SUCCEEDED']);
      }
    }
    await Promise.all(clients.map((client) => client.close()));
  });

  it('publishes a change to the other process within 250 ms', async () => {
    const latency = async () => {
      const { body } = await apiHere!.create(aHang);
      const followed = there!.follow<One>(ONE, { id: body.task_id });
      await eventually('the run', async () => followed.data.at(-1)?.taskUpdated.status === 'RUNNING');
      const cancelledAt = performance.now();
      await apiHere!.cancel(body.task_id);
      await followed.ended;
      return performance.now() - cancelledAt;
    };
    const boundMs = 250 * busyness();
    expect(await leastOf(8, boundMs, latency)).toBeLessThan(boundMs);
  });

  // The payloads of Redis are read by the same lines.
  (DRIVER === 'PostgreSQL' ? it : it.skip)(
    'survives malformed messages, and logs only a few lines of many',
    async () => {
      const [channel] = channelsOf(new Secrets([Buffer.from(SECRET_KEY, 'hex')]));
      const client = new Client({ connectionString: database.url });
      await client.connect();
      const foreign = '["zzzzzzzz",[["task",7]],0]'; // of another version
      for (const payload of [foreign, '7', '{"from":"x"}', 'null', ...Array.from({ length: 500 }, () => 'not json')])
        await client.query('select pg_notify($1, $2)', [channel, payload]);
      await client.end();
      await eventually('a log line', async () =>
        processes.some(({ output }) => output().includes('bus.message_failed')),
      );
      const { body } = await apiHere!.create(aFailure, { prefer: 'wait=20' });
      expect(body.status).toBe('failed');
      expect(processes.map(({ child }) => child.exitCode)).toEqual([null, null, null]);
      for (const { output } of processes) expect(output().split('bus.message_failed').length).toBeLessThan(11);
    },
  );

  it('misses no end when the bus was away: delivers it soon after the bus is back', async () => {
    const tasks = await Promise.all(Array.from({ length: 8 }, () => apiHere!.create(aHang)));
    const ids = tasks.map(({ body }) => body.task_id);
    const singles = ids.map((id) => there!.follow<One>(ONE, { id }));
    const all = there!.follow<All>(ALL);
    const reader = await EventReader.open(apiThere!.baseUrl, '/v1/events', apiThere!.key as string);
    await eventually(
      'all present states',
      async () =>
        singles.every(({ events }) => events.length > 0) && all.events.length >= 8 && reader.events.length >= 8,
    );
    line.cut();
    await eventually('the loss to be noticed', async () => (await busAt(apiThere!)) === 'failed');
    for (const id of ids) await apiHere!.cancel(id);
    // Made and ended while the bus is away.
    const unseen = (await apiHere!.create(aFailure, { prefer: 'wait=20' })).body.task_id;
    line.mend();
    const ended = [...ids, unseen];
    const endsSeenBy = {
      all: () =>
        new Set(
          all.data
            .filter(({ tasksUpdated }) => tasksUpdated.status === 'FAILED')
            .map(({ tasksUpdated }) => tasksUpdated.taskId),
        ),
      reader: () =>
        new Set(reader.events.filter(({ data }) => data.status === 'failed').map(({ data }) => data.task_id)),
    };
    await Promise.all(singles.map(({ ended }) => ended));
    await eventually('every end', async () =>
      ended.every((id) => endsSeenBy.all().has(id) && endsSeenBy.reader().has(id)),
    );
    reader.close();
    all.stop();
    // The process whose bus was away publishes to the others again.
    const { body } = await apiThere!.create(aCat);
    const followed = here!.follow<One>(ONE, { id: body.task_id });
    await followed.ended;
    expect(followed.data.at(-1)!.taskUpdated.status).toBe('SUCCEEDED');
  });
});
