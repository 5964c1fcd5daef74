/**
 * What does a picture cost in Darkroom, and what in LiteLLM's proxy, through the same call of OpenAI's API?
 * benchmarks/peers.md says how to repeat it and what the figures cannot say.
 *
 *     npm run bench -- peers <folder of a Python environment with litellm[proxy]> [rounds, 5]
 *
 * An upstream on loopback, a process of its own, answers at once with `b64_json`: a PNG of 5 kB or of 1.5 MB. The
 * services alternate, and each round changes their order. `ms` is the processor time of one picture in milliseconds, of
 * all processes of the service with PostgreSQL. It is counted until a pause after the last answer has ended, so that
 * work after the answer counts. One API key of Darkroom has a webhook endpoint; rounds of that key end when all
 * webhooks have arrived.
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { forkPictureUpstream } from './support/fork-picture-upstream.ts';
import { proportionalMbOfTree } from './support/memory.ts';
import { askForPicture, assertPng } from './support/peers/ask-for-picture.ts';
import { darkroom } from './support/peers/darkroom.ts';
import { liteLlm, liteLlmVersion } from './support/peers/litellm.ts';
import type { Peer } from './support/peers/peer.ts';
import { post } from './support/post.ts';
import { processorClock } from './support/processor-time.ts';
import { median, report, round2 } from './support/report.ts';

const [venvGiven, roundsGiven = '5'] = process.argv.slice(2);
if (venvGiven === undefined) throw new Error('Name the folder of a Python environment with litellm[proxy].');
const venv = resolve(venvGiven);
const version = liteLlmVersion(venv); // first, because it fails before anything runs if the environment is wrong
const ROUNDS = Number(roundsGiven);
const CONNECTIONS = [1, 64];
/** Pictures of one round, by the number of connections. */
const PICTURES: Record<'5 kB' | '1.5 MB', Record<number, number>> = {
  '5 kB': { 1: 100, 64: 640 },
  '1.5 MB': { 1: 30, 64: 192 },
};
/** The pause after the last answer, for work that goes on after it. */
const PAUSE_MS = 300;
const AFTER_LOAD_MS = 1000;
const STARTS = 3;

interface Side {
  name: string;
  peer: Peer;
  apiKey: string;
  hasWebhook: boolean;
}

interface Cost {
  /** Milliseconds of processor time for one picture. */
  ms: number;
  /** PostgreSQL's part of `ms`. */
  database: number;
  /** Pictures a second, from the first request to the last answer. */
  rate: number;
}

const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-peers-'));
await chmod(folder, 0o711);
const upstream = await forkPictureUpstream();
const peers: Peer[] = [];
const rows: Record<string, object> = {};
const loads = [loadavg()[0]!];
let retries = 0;
try {
  await mkdir(join(folder, 'darkroom'));
  peers.push(await darkroom(join(folder, 'darkroom'), upstream.url));
  peers.push(await liteLlm(join(folder, 'litellm'), upstream.url, venv));
  const [ours, theirs] = peers as [Peer, Peer];
  for (const peer of peers) await peer.start();

  const sides: Side[] = [
    { name: 'Darkroom', peer: ours, apiKey: ours.apiKey, hasWebhook: false },
    { name: 'Darkroom, webhook', peer: ours, apiKey: await keyWithWebhook(ours), hasWebhook: true },
    { name: 'LiteLLM', peer: theirs, apiKey: theirs.apiKey, hasWebhook: false },
  ];
  for (const size of ['5 kB', '1.5 MB'] as const) {
    const bytes = await upstream.use(size);
    for (const { peer, apiKey } of sides) await assertPng(peer.url, apiKey);
    for (const connections of CONNECTIONS) {
      const costs = new Map(sides.map(({ name }) => [name, [] as Cost[]]));
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          const cost = await measure(side, { amount: PICTURES[size][connections]!, connections, bytes });
          if (round > 0) costs.get(side.name)!.push(cost); // the first compiles the code and fills the pools
        }
      }
      const name = `${size}, ${connections === 1 ? 'alone' : connections}`;
      rows[`${name}, ms`] = rowOf(costs, 'ms');
      rows[`${name}, of it PostgreSQL`] = rowOf(costs, 'database');
      rows[`${name}, pictures/s`] = rowOf(costs, 'rate');
      console.log(name, rows[`${name}, ms`], rows[`${name}, pictures/s`]);
      loads.push(loadavg()[0]!);
    }
  }
  await sleep(AFTER_LOAD_MS);
  await upstream.close(); // the upstream shares pages of libraries with the services, and these pages would count half
  rows['PSS after the load, MiB'] = bothOf(peers.map(memoryOf));

  const starts: number[][] = [];
  const idle: number[][] = [];
  for (let nth = 0; nth < STARTS; nth += 1) {
    const times: number[] = [];
    for (const peer of peers) {
      await peer.stop();
      times.push(await peer.start());
    }
    starts.push(times);
    await sleep(AFTER_LOAD_MS);
    idle.push(peers.map(memoryOf));
  }
  const medians = (of: number[][]) => peers.map((_, at) => median(of.map((each) => each[at]!)));
  rows['PSS after a start, MiB'] = bothOf(medians(idle));
  rows['warm start to ready, ms'] = bothOf(medians(starts));
} finally {
  for (const peer of peers) await peer.stop();
  await upstream.close();
  await rm(folder, { recursive: true, force: true });
}
await report('peers', rows, {
  rounds: ROUNDS,
  LiteLLM: version,
  'load of the machine': `${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`,
  'calls repeated after a 503': retries,
});

async function keyWithWebhook({ url, apiKey }: Peer): Promise<string> {
  const { key } = await post<{ key: string }>(`${url}/v1/api_keys`, apiKey, { name: 'with a webhook' });
  await post(`${url}/v1/webhook_endpoints`, key, { url: upstream.hookUrl });
  return key;
}

interface Round {
  amount: number;
  connections: number;
  /** Bytes of the upstream's picture, without the mark that Darkroom adds. */
  bytes: number;
}

async function measure({ peer, apiKey, hasWebhook }: Side, { amount, connections, bytes }: Round): Promise<Cost> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const webhooksBefore = await upstream.webhooks();
  const database = peer.databasePid();
  const all = processorClock(peer.pid(), ...(database === null ? [] : [database]));
  const ofDatabase = database === null ? () => 0 : processorClock(database);
  const since = performance.now();
  let left = amount;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      retries += await askForPicture({ url: peer.url, apiKey, agent, bytes });
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  const seconds = (performance.now() - since) / 1000;
  if (hasWebhook) while ((await upstream.webhooks()) < webhooksBefore + amount) await sleep(20);
  await sleep(PAUSE_MS);
  const cost = { ms: all() / amount, database: ofDatabase() / amount, rate: amount / seconds };
  agent.destroy();
  await peer.clear();
  return cost;
}

function memoryOf(peer: Peer): number {
  const database = peer.databasePid();
  return proportionalMbOfTree(peer.pid(), ...(database === null ? [] : [database]));
}

function rowOf(costs: Map<string, Cost[]>, part: keyof Cost): object {
  const figures = [...costs].map(([name, of]) => [name, round2(median(of.map((cost) => cost[part])))] as const);
  const row = Object.fromEntries(part === 'database' ? figures.slice(0, -1) : figures);
  if (part === 'database') return row;
  const [ours, theirs] = [costs.get('Darkroom')!, costs.get('LiteLLM')!];
  return { ...row, 'Darkroom / LiteLLM': round2(median(ours.map((cost, at) => cost[part] / theirs[at]![part]))) };
}

function bothOf([ours, theirs]: number[]): object {
  return {
    Darkroom: Math.round(ours!),
    LiteLLM: Math.round(theirs!),
    'Darkroom / LiteLLM': round2(ours! / theirs!),
  };
}
