import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../../../support/clients/api.ts';
import { FailoverLoad } from '../../../support/faults/failover-load.ts';
import { FaultFleet, SHORT_TIMES } from '../../../support/faults/fleet.ts';
import { PatroniCluster } from '../../../support/servers/patroni-cluster.ts';
import { postgresPrograms } from '../../../support/servers/postgres-pair.ts';
import { ArkStub } from '../../../support/stubs/ark.stub.ts';
import { OpenaiStub } from '../../../support/stubs/openai.stub.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith, say } from '../tools.ts';

/** Of load before each change of the primary. */
const BETWEEN_MS = 1_500;
/** From a primary that died to the next create: Patroni waits for its `ttl`, which is 20 s here, and promotes. */
const MOST_MS_AFTER_A_CRASH = 40_000;
/** A switch-over needs no such wait. */
const MOST_MS_AFTER_A_SWITCH_OVER = 15_000;

const TOOLS = { patroni: 'Debian: patroni', etcd: 'Debian: etcd-server' };

describeWith(TOOLS, 'the cluster of deploy/patroni/patroni.yml under load', () => {
  let cluster: PatroniCluster;
  let fleet: FaultFleet;
  let load: FailoverLoad | undefined;
  const ark = new ArkStub();
  const openai = new OpenaiStub();
  beforeAll(async () => {
    expect(postgresPrograms).not.toBeNull(); // Debian's patroni needs them too
    [cluster] = await Promise.all([PatroniCluster.start(), ark.start(), openai.start()]);
    ark.real = true;
    ark.steps = { queued: 1, running: 12 };
    fleet = await FaultFleet.on(cluster.url, {
      ...SHORT_TIMES,
      LOG_LEVEL: 'warn',
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
    });
    await fleet.add('api');
    await fleet.add('worker');
  }, 400_000);
  afterAll(async () => {
    await load?.stop();
    await fleet?.end();
    await Promise.all([ark.stop(), openai.stop()]);
    await cluster?.remove();
  }, 60_000);

  const api = (): Api => fleet.clientOf(fleet.apis[0]!);

  it('loses no accepted task and buys nothing twice, whoever is the primary', async () => {
    const clients = (load = new FailoverLoad(api));
    const took: Record<string, number> = {};
    /** @returns the primary before */
    const change = async (name: string, mostMs: number, act: (primary: 'a' | 'b' | 'c') => Promise<void>) => {
      const before = clients.accepted.length;
      await eventually('a synchronous standby', async () => (await cluster.standbys()).length > 0, mostMs);
      await sleep(BETWEEN_MS);
      await eventually('creates before', async () => clients.accepted.length > before + 20);
      const primary = (await cluster.primary())!;
      const since = performance.now();
      await act(primary);
      const isElsewhere = async () => ![null, primary].includes(await cluster.primary());
      await eventually('another primary', isElsewhere, mostMs);
      const promotedMs = performance.now();
      await eventually('a create after', async () => clients.lastAcceptedMs > promotedMs, mostMs);
      took[name] = Math.round(clients.lastAcceptedMs - since);
      return primary;
    };

    await change('switch_over_ms', MOST_MS_AFTER_A_SWITCH_OVER, () => cluster.switchOver());
    const crashed = await change('crash_ms', MOST_MS_AFTER_A_CRASH, (primary) => cluster.kill(primary));
    cluster.startAgent(crashed);
    await eventually('it to become a standby', async () => (await cluster.standbys()).includes(crashed), 60_000);
    // Its Patroni hangs, so that it is not told of the new primary, and goes on answering.
    const left = await change('hang_ms', MOST_MS_AFTER_A_CRASH, async (primary) => cluster.freezeAgent(primary));
    const ours = `select 1 from pg_stat_activity where application_name in ('darkroom', 'darkroom:bus')
      and wait_event is distinct from 'SyncRep'`;
    await eventually('nobody to be left there', async () => (await cluster.query(left, ours)).length === 0, 10_000);
    await sleep(BETWEEN_MS);
    await clients.stop();

    const finals = await clients.untilFinal();
    const primary = (await cluster.primary())!;
    const made = await cluster.query<{ model: string; n: number }>(
      primary,
      'select model, count(*)::int as n from tasks group by model',
    );
    const rows = Object.fromEntries(made.map(({ model, n }) => [model, n]));
    say(
      `patroni: ${JSON.stringify({
        ...took,
        accepted: clients.accepted.length,
        answers: clients.statuses(),
        films: [ark.submits, rows['seedance-2']],
        pictures: [openai.submits, rows['gpt-image-2']],
      })}`,
    );

    expect(clients.wrong).toEqual([]);
    expect(finals.filter(({ ok }) => !ok)).toEqual([]);
    expect(ark.submits).toBe(rows['seedance-2']);
    expect(openai.submits).toBe(rows['gpt-image-2']);
  }, 400_000);
});
