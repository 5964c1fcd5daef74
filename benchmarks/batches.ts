/**
 * How long does it take to accept a batch?
 *
 *     npm run build && npm run bench -- batches [items, 1000] [rounds, 9]
 *
 * One API process (ROLE=api) and one client. The time runs from the request to the end of the answer, in ms. The goal
 * is 500 ms for 1,000 items on an idle machine. `work` is the processor time of the process and of PostgreSQL, which
 * other work on the machine affects least. The batch is sent with an Idempotency-Key. The baseline sends the same items
 * one by one over 64 connections, without keys and in turns with the batch; the ratio is baseline / batch.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { brief } from './support/compare.ts';
import { post } from './support/post.ts';
import { processorClock } from './support/processor-time.ts';
import { median, report } from './support/report.ts';
import { Bench } from './support/service.ts';

const ITEMS = Number(process.argv[2] ?? 1_000);
const ROUNDS = Number(process.argv[3] ?? 9);
const CONNECTIONS = 64;
const LARGE_BUDGET = 1_000_000_000_000;

const bodies = Array.from({ length: ITEMS }, (_, nth) => ({
  model: 'gpt-image-2',
  prompt: `A lighthouse at dusk, number ${nth}, waves breaking on the rocks below, oil on canvas`,
}));
const requests = bodies.map((body, nth) => ({ custom_id: `item-${nth}`, body }));

/** Both in milliseconds. */
interface Timed {
  ms: number;
  work: number;
}

const folder = mkdtempSync(join(tmpdir(), 'darkroom-bench-prices-'));
const loadBefore = loadavg()[0];
const bench = await Bench.open();
const rows: Record<string, object> = {};
try {
  const prices = join(folder, 'providers.yaml');
  await writeFile(prices, 'prices: [{ provider: sandbox, per_image: "0.04" }]');
  const url = await bench.service({ ROLE: 'api', PROVIDERS: prices });
  const timed = (work: () => Promise<unknown>) => time(work, bench.pidOf(url), bench.databasePid);
  const batch = (body: object, key = bench.apiKey) =>
    post(`${url}/v1/batches`, key, body, { 'idempotency-key': randomUUID() });
  const oneByOne = (key = bench.apiKey) => inLanes(bodies, (body) => post(`${url}/v1/generations`, key, body));

  const { key } = await post<{ key: string }>(`${url}/v1/api_keys`, bench.apiKey, {
    name: 'with a budget',
    scopes: ['generations:write'],
    limits: { budget: { amount_micros: LARGE_BUDGET, period: 'month' } },
  });
  const input_file_id = await upload(url, requests.map(toLine).join('\n'));
  const questions: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    ['requests in the body', () => batch({ requests }), () => oneByOne()],
    ['a key with a budget', () => batch({ requests }, key), () => oneByOne(key)],
    ['lines of an uploaded file', () => batch({ input_file_id }), () => oneByOne()],
  ];
  for (const [name, ours, theirs] of questions) {
    const rounds: [Timed, Timed][] = [];
    await Promise.all([ours(), theirs()]); // compiles the code and fills the pools
    for (let round = 0; round < ROUNDS; round += 1) rounds.push([await timed(ours), await timed(theirs)]);
    rows[`${ITEMS.toLocaleString('en')} items, ${name}`] = rowOf(rounds);
  }
} finally {
  await bench.close();
  rmSync(folder, { recursive: true });
}
await report('batches', rows, { rounds: ROUNDS, connections: CONNECTIONS, load_before: loadBefore });

function rowOf(rounds: [Timed, Timed][]): object {
  const of = (value: (pair: [Timed, Timed]) => number) => brief(median(rounds.map(value)));
  return {
    ms: of(([ours]) => ours.ms),
    slowest_ms: brief(Math.max(...rounds.map(([ours]) => ours.ms))),
    work: of(([ours]) => ours.work),
    baseline_ms: of(([, theirs]) => theirs.ms),
    baseline_work: of(([, theirs]) => theirs.work),
    ratio: of(([ours, theirs]) => theirs.ms / ours.ms),
    work_ratio: of(([ours, theirs]) => theirs.work / ours.work),
  };
}

async function time(work: () => Promise<unknown>, ...pids: number[]): Promise<Timed> {
  const used = processorClock(...pids);
  const startedMs = performance.now();
  await work();
  return { ms: performance.now() - startedMs, work: used() };
}

/** Each connection sends its next item when the previous one is answered. */
async function inLanes<Item>(items: Item[], send: (item: Item) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await send(item);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

function toLine({ custom_id, body }: (typeof requests)[number]): string {
  return JSON.stringify({ custom_id, method: 'POST', url: '/v1/generations', body });
}

async function upload(url: string, text: string): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([text]), 'requests.jsonl');
  const headers = { authorization: `Bearer ${bench.apiKey}` };
  const answer = await fetch(`${url}/v1/files`, { method: 'POST', headers, body: form });
  if (!answer.ok) throw new Error(`The upload was refused: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}
