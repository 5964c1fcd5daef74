import { setTimeout as sleep } from 'node:timers/promises';
import { LockedRows } from '../support/faults/locked-rows.ts';
import type { Deployment } from './deployment.ts';
import type { Plan } from './plan.ts';
import type { RunRecord } from './run-record.ts';
import type { Surroundings } from './surroundings.ts';

export const LEASE_S = 8;

interface Stage {
  plan: Plan;
  deployment: Deployment;
  surroundings: Surroundings;
  record: RunRecord;
  random: () => number;
}

/** Each restores what it broke before it returns. */
const FAULTS: { [kind: string]: (stage: Stage) => Promise<void> } = {
  'kill worker': ({ deployment }) => deployment.member('worker-2').restart('SIGKILL'),
  'kill api': ({ deployment }) => deployment.member('api-2').restart('SIGKILL'),
  'stop worker gracefully': ({ deployment }) => deployment.member('worker-2').restart('SIGTERM'),
  'freeze worker': (stage) => freeze(stage, 'worker-1'),
  'freeze other worker': (stage) => freeze(stage, 'worker-2'),
  'upstream away': async ({ surroundings: { upstreamLines }, random }) => {
    const line = upstreamLines[Math.floor(random() * upstreamLines.length)]!;
    line.refuse(); // calls in flight are cut, further ones are refused
    await sleep((5 + 15 * random()) * 1000);
    line.mend();
  },
  'receiver away': async ({ surroundings: { receiverLine }, random }) => {
    receiverLine.cut();
    await sleep((5 + 15 * random()) * 1000);
    receiverLine.mend();
  },
  'locked row': async ({ deployment, record, random }) => {
    const url = deployment.database.url;
    const [key] = await record.query<{ id: string }>(
      url,
      `select api_key_id as id from key_load order by random() limit 1`,
    );
    const held = await LockedRows.of(url, `key_load where api_key_id = '${key?.id}'`);
    await sleep((1 + 4 * random()) * 1000);
    await held.release();
  },
  'cut connections': async ({ deployment, record }) => {
    const rows = await record.query(
      deployment.database.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name like 'darkroom%' and random() < 0.5 and pid <> pg_backend_pid()`,
    );
    record.count('connections cut', rows.length);
  },
};

async function freeze({ deployment, random }: Stage, name: string): Promise<void> {
  const { child } = deployment.member(name);
  child?.kill('SIGSTOP');
  await sleep((0.5 + 1.5 * random()) * LEASE_S * 1000); // shorter and longer than a lease
  child?.kill('SIGCONT');
}

/** Injects one fault after the other until the signal aborts. Every kind comes once in each round, in random order. */
export async function injectFaults(stage: Stage, over: AbortSignal): Promise<void> {
  let round: string[] = [];
  while (!over.aborted) {
    await sleep(stage.plan.faultEveryS * 1000 * (0.5 + stage.random()), undefined, { signal: over }).catch(
      () => undefined,
    );
    if (over.aborted) return;
    if (round.length === 0) round = shuffled(Object.keys(FAULTS), stage.random);
    const kind = round.pop()!;
    const at = stage.record.elapsedS;
    try {
      await FAULTS[kind]!(stage);
    } catch (error) {
      stage.record.violation(`the fault "${kind}" could not be undone: ${(error as Error).message}`);
    }
    stage.record.count(`fault: ${kind}`);
    stage.record.faults.push({ at, kind, seconds: stage.record.elapsedS - at });
  }
}

function shuffled<Item>(items: Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
