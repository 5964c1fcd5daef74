/**
 * What do 200 declared models cost? (The goals of a set of this size: `tools/list` below 48 kB, `GET /v1/models` below
 * 50 ms, a start below 2 s.)
 *
 *     npm run build && npm run bench -- many-models [models, 200] [starts of each, 5]
 *
 * Half of the models make images, half films. Each has about 20 parameters, with bounds, sizes and descriptions of its
 * own, so that little can be said once for all of them. Starts with and without these models take turns, on a database
 * that has its tables. `ms` is the time from the start of the process until `/readyz` says yes, `work` the process's
 * processor time until then.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, loadavg } from 'node:os';
import { join } from 'node:path';
import { processorClock, processorTimeOf } from './support/processor-time.ts';
import { median, report, round2 } from './support/report.ts';
import { Bench } from './support/service.ts';

const MODELS = Number(process.argv[2] ?? 200);
const STARTS = Number(process.argv[3] ?? 5);
const READS = 50;

const folder = mkdtempSync(join(tmpdir(), 'darkroom-models-'));
mkdirSync(join(folder, 'none'));
mkdirSync(join(folder, 'many'));
for (let nth = 0; nth < MODELS; nth += 1) writeFileSync(join(folder, `many/m${nth}.yaml`), declaration(nth));

const loadBefore = loadavg()[0];
const bench = await Bench.open();
const headers = { authorization: `Bearer ${bench.apiKey}`, 'content-type': 'application/json' };
const rows: Record<string, object> = {};
try {
  await bench.service(); // makes the tables
  const starts = { none: [] as Start[], many: [] as Start[] };
  let url = '';
  for (let nth = 0; nth < STARTS; nth += 1) {
    for (const set of ['none', 'many'] as const) {
      const startedMs = performance.now();
      url = await bench.service({ MODELS: join(folder, set) });
      starts[set].push({ ms: performance.now() - startedMs, work: processorTimeOf(bench.pidOf(url)) });
    }
  }
  for (const [set, all] of Object.entries(starts)) {
    rows[`a start, ${set === 'none' ? 'no' : MODELS} declared models`] = {
      ms: round2(median(all.map(({ ms }) => ms))),
      least_ms: round2(Math.min(...all.map(({ ms }) => ms))),
      work: round2(median(all.map(({ work }) => work))),
    };
  }
  rows['GET /v1/models, the first'] = await read(`${url}/v1/models`);
  const used = processorClock(bench.pidOf(url));
  const reads: number[] = [];
  for (let nth = 0; nth < READS; nth += 1) reads.push((await read(`${url}/v1/models`)).ms);
  rows['GET /v1/models, later'] = {
    ms: round2(median(reads)),
    least_ms: Math.min(...reads),
    work: round2(used() / READS),
  };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  rows['tools/list'] = await read(`${url}/mcp`, call);
} finally {
  await bench.close();
  rmSync(folder, { recursive: true });
}
await report('many-models', rows, { models: MODELS, starts: STARTS, load_before: loadBefore });

interface Start {
  ms: number;
  work: number;
}

async function read(url: string, body?: object): Promise<{ ms: number; bytes: number }> {
  const accept = 'application/json, text/event-stream';
  const startedMs = performance.now();
  const sent = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const answer = await fetch(url, { headers: { ...headers, accept }, ...sent });
  const { byteLength: bytes } = await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return { ms: round2(performance.now() - startedMs), bytes };
}

function declaration(nth: number): string {
  const isImage = nth % 2 === 0;
  const own = Array.from(
    { length: 12 },
    (_, at) => `  x_knob_${at}: { type: integer, minimum: ${at}, maximum: ${nth + at + 1}, default: ${at}, description: Turns knob ${at}. }`, // prettier-ignore
  );
  const ofKind = isImage
    ? ['reference_images: { maxItems: 4 }', 'mask: {}', 'strength: { default: 0.5 }', `n: { maximum: ${1 + (nth % 10)} }`]
    : ['first_frame_image_url: {}', 'last_frame_image_url: {}', `duration: { maximum: ${10 + (nth % 50)}, default: 5 }`, 'generate_audio: {}']; // prettier-ignore
  return `id: model-${nth}
kind: ${isImage ? 'image' : 'video'}
description: ${'A model with many parameters. '.repeat(3)}
parameters:
  prompt: { maxLength: ${1_000 + nth} }
  negative_prompt: { maxLength: ${100 + nth} }
  seed: { maximum: ${1_000 + nth} }
${ofKind.map((line) => `  ${line}`).join('\n')}
${own.join('\n')}
sizes: { table: { columns: [c${nth}], rows: { '1:1': [1024x1024], '${1 + nth}:2': [1026x1024] } } }
bindings: [{ provider: sandbox }]
`;
}
