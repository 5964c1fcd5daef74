import { setTimeout as sleep } from 'node:timers/promises';
import { testEnv } from '../../../support/test-env.ts';
import { aFailure } from '../../../support/clients/api.ts';
import { EventReader } from '../../../support/clients/event-reader.ts';
import { GraphqlClient } from '../../../support/clients/graphql-client.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ServiceProcess, spawnService } from '../../../support/process.ts';
import {
  mostSubscribed,
  type RedisGroup,
  startCluster,
  startSentinels,
} from '../../../support/servers/redis-groups.ts';
import type { RedisServer } from '../../../support/servers/redis-server.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith } from '../tools.ts';

const ALL = 'subscription All { tasksUpdated { taskId status } }';
interface All {
  tasksUpdated: { taskId: string; status: string };
}

/** An end may reach a watcher so late, whatever happens to Redis. */
const LIMIT_MS = 15_000;
const EVERY_MS = 200;

/** What is killed: a sentinel's master, or the node that most processes listen to. */
const grounds: [string, () => Promise<RedisGroup>, (group: RedisGroup) => Promise<RedisServer>][] = [
  ['Sentinel: the master', startSentinels, async ({ servers }) => servers[0]!],
  ['Cluster: a node', startCluster, ({ servers }) => mostSubscribed(servers)],
];

describeWith({ 'redis-server': 'Debian: redis-server' }, 'live events over Redis', () => {
  describe.each(grounds)('%s is killed', (_name, startGroup, victimOf) => {
    let database: TestDatabase;
    let group: RedisGroup;
    let api: ServiceProcess;
    const processes: ServiceProcess[] = [];
    let graphql: GraphqlClient;
    let reader: EventReader;

    beforeAll(async () => {
      [database, group] = await Promise.all([cloneDatabase(), startGroup()]);
      const settings = { EVENTS_URL: group.url, LOG_LEVEL: 'info' };
      const { env } = await testEnv(database.url, { ...settings, ROLE: 'api' });
      const { BOOTSTRAP_API_KEY, PUBLIC_URL, DATA_DIR } = env as Record<string, string>;
      const worker = await testEnv(database.url, {
        ...settings,
        ROLE: 'worker',
        BOOTSTRAP_API_KEY: BOOTSTRAP_API_KEY!,
      });
      const workerEnv = { ...worker.env, PUBLIC_URL: PUBLIC_URL!, OPS_PORT: '', DATA_DIR: DATA_DIR! };
      [api] = (await Promise.all([env, workerEnv].map(start))) as [ServiceProcess, ServiceProcess];
      graphql = new GraphqlClient(api.api.baseUrl, api.api.key);
    });
    afterAll(async () => {
      reader?.close();
      await graphql?.close();
      for (const process of processes) await process.kill('SIGKILL');
      await group?.stop();
      await database?.drop();
    });

    async function start(env: Record<string, string>): Promise<ServiceProcess> {
      const process = await spawnService(env);
      processes.push(process);
      return process;
    }

    it('no end of a task is missed for more than 15 s by SSE or a subscription, and the bus heals', async () => {
      reader = await EventReader.open(api.api.baseUrl, '/v1/events', api.api.key as string);
      const followed = graphql.follow<All>(ALL);
      const seenBy = {
        sse: (id: string) => reader.of(id).some(({ status }) => status === 'failed'),
        graphql: (id: string) =>
          followed.data.some(({ tasksUpdated: { taskId, status } }) => taskId === id && status === 'FAILED'),
      };
      const arrivals: Promise<[sse: number, graphql: number]>[] = [];
      const create = async (): Promise<void> => {
        const sentAt = performance.now();
        const { status, body } = await api.api.create(aFailure);
        expect(status).toBe(201);
        const after = async (isSeen: (id: string) => boolean): Promise<number> => {
          await eventually('the end of a task', async () => isSeen(body.task_id), 2 * LIMIT_MS);
          return performance.now() - sentAt;
        };
        const arrival = Promise.all([after(seenBy.sse), after(seenBy.graphql)]);
        arrival.catch(() => undefined); // awaited at the end, unless the test has failed before
        arrivals.push(arrival);
      };
      const over = new AbortController();
      const load = (async () => {
        while (!over.signal.aborted) {
          await create();
          await sleep(EVERY_MS);
        }
      })();
      await sleep(1_000);
      expect(await eventsOf(api)).toBe('ok');

      const victim = await victimOf(group);
      victim.signal('SIGKILL');
      const killedAt = performance.now();
      const lost = 'the process to notice';
      await eventually(lost, async () => processes.some(({ output }) => output().includes('bus.disconnected')), 2_000);
      await eventually('the bus to heal', async () => heals(processes), LIMIT_MS);
      const healedMs = performance.now() - killedAt;
      const before = arrivals.length;
      await sleep(1_500);
      over.abort();
      await load;

      const all = await Promise.all(arrivals);
      expect(all.length).toBeGreaterThan(before);
      const slowest = Math.max(...all.flat());
      expect(slowest).toBeLessThan(LIMIT_MS);
      expect(healedMs).toBeLessThan(LIMIT_MS);
      // News again, not polls.
      const last = all.slice(before).flat();
      expect(last.toSorted((a, b) => a - b)[Math.floor(last.length / 2)]!).toBeLessThan(3_000);
      expect(await eventsOf(api)).toBe('ok');
    });
  });
});

/** Every process that lost the bus has it again. */
function heals(processes: readonly ServiceProcess[]): boolean {
  return processes.every(({ output }) => {
    const events = [...output().matchAll(/"bus\.(disconnected|deaf|reconnected)"/g)].map(([, event]) => event);
    return events.length === 0 || events.at(-1) === 'reconnected';
  });
}

async function eventsOf({ api }: ServiceProcess): Promise<string> {
  return (await api.get<{ checks: { events: string } }>('/readyz')).body.checks.events;
}
