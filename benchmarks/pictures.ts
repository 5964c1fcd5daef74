/**
 * How much processor time does a picture take, from the request and the provider's answer to the disk and back to the
 * client?
 *
 *     npm run bench -- pictures [rounds, 5] [folder of another clone, built]
 *
 * An upstream on loopback answers at once with `b64_json`: a PNG of 30 kB or of 1.5 MB. A client creates a task with
 * `Prefer: wait`, then reads the file from its signed link. It does so one picture at a time, and with 64 connections.
 * The baseline is the least work by hand (baseline/pictures.ts). With a folder of another clone, such as the commit
 * before, that build takes part too. Each build has a database of its own, because a build would also work on the tasks
 * of the other.
 *
 * `ms` is the processor time of one picture in milliseconds, of the service's process with all its threads.
 * PostgreSQL's is shown separately. PSS is that of the process after the last round; the peak is that of the process's
 * resident memory.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { peakMb, proportionalMb } from './support/memory.ts';
import { startPictureUpstream } from './support/picture-upstream.ts';
import { processorClock } from './support/processor-time.ts';
import { median, report, round2 } from './support/report.ts';
import { Bench } from './support/service.ts';

const [roundsGiven = '5', otherClone] = process.argv.slice(2);
const ROUNDS = Number(roundsGiven);
const CONNECTIONS = [1, 64];
/** Pictures of one round, by the number of connections. */
const PICTURES: Record<'30 kB' | '1.5 MB', Record<number, number>> = {
  '30 kB': { 1: 50, 64: 320 },
  '1.5 MB': { 1: 20, 64: 128 },
};

interface Side {
  name: string;
  pid: number;
  databasePid: number | null;
  /** @returns the URL of the picture */
  make(): Promise<string>;
  clear(): Promise<void>;
}

/** Milliseconds of processor time for one picture. */
interface Cost {
  service: number;
  database: number;
}

const upstream = await startPictureUpstream();
const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-pictures-'));
const benches: Bench[] = [];
const rows: Record<string, object> = {};
try {
  const sides = [await ours('this'), await baseline()];
  if (otherClone !== undefined) sides.push(await ours('other', join(resolve(otherClone), 'dist/main.js')));
  for (const size of ['30 kB', '1.5 MB'] as const) {
    const bytes = upstream.use(size);
    for (const connections of CONNECTIONS) {
      const amount = PICTURES[size][connections]!;
      const costs = new Map(sides.map(({ name }) => [name, [] as Cost[]]));
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          const cost = await measure(side, { amount, connections, bytes });
          if (round > 0) costs.get(side.name)!.push(cost); // the first compiles the code and fills the pools
        }
      }
      rows[`${size}, ${connections === 1 ? 'alone' : connections}`] = rowOf(costs);
      console.log(size, connections, rows[`${size}, ${connections === 1 ? 'alone' : connections}`]);
    }
  }
  for (const { name, pid } of sides)
    rows[`memory, ${name}`] = { 'PSS, MiB': proportionalMb(pid), 'peak, MiB': peakMb(pid) };
} finally {
  for (const bench of benches) await bench.close();
  upstream.close();
  await rm(folder, { recursive: true, force: true });
}
await report('pictures', rows, { rounds: ROUNDS });

async function ours(name: string, main?: string): Promise<Side> {
  const bench = await Bench.open();
  benches.push(bench);
  const settings = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: upstream.url };
  const url = await bench.service(settings, main);
  const headers = {
    authorization: `Bearer ${bench.apiKey}`,
    'content-type': 'application/json',
    prefer: 'wait=60',
  };
  const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk' });
  const files = join(bench.dataDir, 'files');
  return {
    name,
    pid: bench.pidOf(url),
    databasePid: bench.databasePid,
    async make(): Promise<string> {
      const answer = await fetch(`${url}/v1/generations`, { method: 'POST', headers, body });
      if (answer.status === 503) return (this as Side).make(); // other work of the machine delayed PostgreSQL too long
      const task = (await answer.json()) as { result?: { outputs: [{ url: string }] } };
      if (!task.result) throw new Error(`${answer.status} ${JSON.stringify(task)}`);
      return task.result.outputs[0].url;
    },
    async clear() {
      const tasks = (await readdir(files)).filter((entry) => entry.startsWith('task_'));
      await Promise.all(tasks.map((entry) => rm(join(files, entry), { recursive: true })));
    },
  };
}

async function baseline(): Promise<Side> {
  const url = await benches[0]!.baseline('pictures', upstream.url, folder);
  const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk', n: 1, size: '1024x1024' });
  return {
    name: 'baseline',
    pid: benches[0]!.pidOf(url),
    databasePid: null,
    async make() {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/pictures`, { method: 'POST', headers, body });
      return ((await answer.json()) as { url: string }).url;
    },
    async clear() {
      await Promise.all((await readdir(folder)).map((entry) => rm(join(folder, entry))));
    },
  };
}

interface Round {
  amount: number;
  connections: number;
  /** Bytes of the upstream's picture, without the mark that the service adds. */
  bytes: number;
}

async function measure(side: Side, { amount, connections, bytes }: Round): Promise<Cost> {
  const service = processorClock(side.pid);
  const database = side.databasePid === null ? () => 0 : processorClock(side.databasePid);
  let left = amount;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await fetch(await side.make());
      let received = 0;
      for await (const chunk of answer.body ?? []) received += chunk.length;
      if (!answer.ok || received < bytes) throw new Error(`${side.name}: ${answer.status} with ${received} bytes`);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  const cost = { service: service() / amount, database: database() / amount };
  await side.clear();
  return cost;
}

function rowOf(costs: Map<string, Cost[]>): object {
  const [mine, least, other] = ['this', 'baseline', 'other'].map((name) => costs.get(name));
  const ratio = (one: Cost[], two: Cost[]) => round2(median(one.map(({ service }, at) => service / two[at]!.service)));
  const ms = (of: Cost[], part: keyof Cost) => round2(median(of.map((cost) => cost[part])));
  return {
    'this, ms': ms(mine!, 'service'),
    'its PostgreSQL, ms': ms(mine!, 'database'),
    'baseline, ms': ms(least!, 'service'),
    'this / baseline': ratio(mine!, least!),
    ...(other && { 'other, ms': ms(other, 'service'), 'this / other': ratio(mine!, other) }),
  };
}
