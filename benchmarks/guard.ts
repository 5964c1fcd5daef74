/**
 * Has this build become slower than an earlier one? The exit code is 1 if a figure lost more than a tenth, and more
 * than noise explains.
 *
 *     npm run bench -- guard [commit] [rounds, 7]
 *
 * Without an argument the other commit is the last tag, or the parent commit if there is no tag. A shallow clone has
 * neither: the program says so and ends with 0. It needs two processors for minutes, and installs packages if those of
 * the commits differ.
 *
 * Builds the other commit in a temporary folder. Three services with a database each take turns: this build, the other
 * one, and this one again as the control. The figures are ratios of the processor time of one request, because other
 * work of the machine affects it least. Above 1 this build needs less. The bound is 0.9, or three standard deviations
 * of the control where those are wider. A figure below the bound is measured again with new processes, and counts only
 * if the second figure is below too.
 */
import type autocannon from 'autocannon';
import { join } from 'node:path';
import { BuildPipeline } from './support/build-pipeline.ts';
import { brief } from './support/compare.ts';
import { load } from './support/load.ts';
import { buildOf, isKnown, lastTagOrParent } from './support/other-build.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';
import { type Rounds, type Verdict, verdictOn } from './support/slower.ts';

const [given, rounds = '7'] = process.argv.slice(2);
const named = given || undefined; // '' is given where only the rounds are set
const base = named ?? lastTagOrParent();
const CONNECTIONS = 64;
const SMALL_CONNECTIONS = 16;
/**
 * Requests of one round. Their number is fixed, and not the time, so that a busy machine measures as many. The number
 * is large because the first thousands measure V8's compiler: with a twentieth of it, the figure of GET was 0.73
 * instead of 0.95.
 */
const READS = 38_400;
const CREATIONS = 19_200;
/** On a busy machine a connection may wait longer than autocannon's default of 10 s. */
const TIMEOUT_S = 120;
/** Tasks of one round, each from request to end. */
const TASKS = 2_000;
const PIPELINE = 'task, from POST to its end';
const HERE = new URL('..', import.meta.url).pathname;
const GENERATION = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };

if (!isKnown(base)) {
  if (named === undefined) {
    console.log(`SKIPPED the comparison with an earlier build: this clone is shallow and has no ${base}.`);
    process.exit(0);
  }
  console.error(`${base} is no commit of this clone, which may be shallow.`);
  process.exit(2);
}

/** Microseconds of processor time for one request, in one round. */
type Measure = () => Promise<number>;
type Measures = Record<string, Measure>;

/** Starts one build on a database of its own, which `bench` closes at the end. */
async function requestsOf(folder: string, bench: Bench): Promise<Measures> {
  const url = await bench.service({ ROLE: 'api' }, join(folder, 'dist/main.js'));
  const headers = { authorization: `Bearer ${bench.apiKey}`, 'content-type': 'application/json' };
  const { task_id } = await post<{ task_id: string }>(`${url}/v1/generations`, bench.apiKey, GENERATION);
  const measure =
    (path: string, options: Omit<autocannon.Options, 'url'>): Measure =>
    async () => {
      const all = { headers, connections: CONNECTIONS, timeout: TIMEOUT_S, ...options, url: `${url}${path}` };
      return (await load(all, bench.pidOf(url), bench.databasePid)).work;
    };
  const create = { method: 'POST' as const, body: JSON.stringify(GENERATION), amount: CREATIONS };
  const keyed = { ...create, headers: { ...headers, 'idempotency-key': '[<id>]' }, idReplacement: true };
  return {
    [`GET, ${CONNECTIONS}`]: measure(`/v1/tasks/${task_id}`, { amount: READS }),
    [`POST, ${CONNECTIONS}`]: measure('/v1/generations', create),
    [`POST with Idempotency-Key, ${SMALL_CONNECTIONS}`]: measure('/v1/generations', {
      ...keyed,
      connections: SMALL_CONNECTIONS,
    }),
    [`list, ${CONNECTIONS}`]: measure('/v1/tasks', { amount: READS }),
  };
}

/**
 * Rounds take turns, and the order of the builds rotates. The first round is not counted, because it compiles the code
 * of each.
 */
async function compareAll(
  [mine, other, twin]: [Measures, Measures, Measures],
  wanted: (name: string) => boolean,
): Promise<Record<string, Rounds>> {
  const all: Record<string, Rounds> = {};
  for (const name of Object.keys(mine).filter(wanted)) {
    const order = [mine, other, twin].map((measures) => measures[name]!);
    const figures: number[][] = [[], [], []];
    for (let round = 0; round <= Number(rounds); round += 1) {
      for (let turn = 0; turn < order.length; turn += 1) {
        const at = (round + turn) % order.length;
        const work = await order[at]!();
        if (round > 0) figures[at]!.push(work);
      }
    }
    const [own, base_, control] = figures as [number[], number[], number[]];
    all[name] = {
      base: own.map((work, at) => base_[at]! / work),
      control: own.map((work, at) => control[at]! / work),
    };
  }
  return all;
}

/** Starts new processes for both builds, and measures the figures that `wanted` selects. */
async function measureAll(folder: string, wanted: (name: string) => boolean): Promise<Record<string, Verdict>> {
  const results: Record<string, Rounds> = {};
  const benches = await Promise.all([Bench.open(), Bench.open(), Bench.open()]);
  try {
    const [one, two, three] = benches;
    const measures = [requestsOf(HERE, one), requestsOf(folder, two), requestsOf(HERE, three)] as const;
    Object.assign(results, await compareAll(await Promise.all(measures), wanted));
  } finally {
    for (const bench of benches) await bench.close();
  }
  if (wanted(PIPELINE)) {
    const pipelines = [
      await BuildPipeline.open(HERE),
      await BuildPipeline.open(folder),
      await BuildPipeline.open(HERE),
    ] as const;
    try {
      const of = (pipeline: BuildPipeline): Measures => ({
        [PIPELINE]: async () => (await pipeline.burst(TASKS)).work,
      });
      const [mine, other, twin] = pipelines;
      Object.assign(results, await compareAll([of(mine), of(other), of(twin)], wanted));
    } finally {
      for (const pipeline of pipelines) await pipeline.close();
    }
  }
  return Object.fromEntries(Object.entries(results).map(([name, of]) => [name, verdictOn(of)]));
}

const rowOf = ({ ratio, control, bound, slower }: Verdict) => ({
  ratio: brief(ratio),
  control: brief(control),
  bound: brief(bound),
  verdict: slower ? 'SLOWER' : 'ok',
});

const rows: Record<string, ReturnType<typeof rowOf>> = {};
const { folder, remove } = await buildOf(base);
let regressed = false;
try {
  const first = await measureAll(folder, () => true);
  const suspects = Object.keys(first).filter((name) => first[name]!.slower);
  const again = suspects.length > 0 ? await measureAll(folder, (name) => suspects.includes(name)) : {};
  for (const [name, verdict] of Object.entries(first)) {
    rows[name] = rowOf(verdict);
    if (again[name]) rows[`${name}, again`] = rowOf(again[name]);
  }
  regressed = Object.values(again).some(({ slower }) => slower);
} finally {
  await remove();
}
await report('guard', rows, { base, rounds });
process.exitCode = regressed ? 1 : 0;
