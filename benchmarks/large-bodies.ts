/**
 * How much memory do large answers and large uploads take in an API process?
 *
 *     npm run bench -- large-bodies [rounds, 3]
 *
 * Answers: ten 4K pictures of one call as `b64_json`. They are asked for again with the same Idempotency-Key, so that
 * the whole answer is written from storage. The sandbox's pictures compress well, so noise of the same size takes their
 * place in storage. Uploads: 20 forms at once, each with another PNG picture of nearly 20 MB. Each question has a
 * process of its own (ROLE=api), and another process renders the pictures. Each process is warmed by one small upload
 * only. Its resident memory is sampled each 50 ms. The growth is the difference to the memory before the first round.
 */
import { randomFillSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import sharp from 'sharp';
import { residentMb } from './support/memory.ts';
import { report, round2 } from './support/report.ts';
import { Bench } from './support/service.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const PICTURES = 10;
const UPLOADS = 20;
/**
 * Pixels of a side. Noise does not compress, so a pixel takes 3 bytes, and the picture stays below the limit of
 * 20,000,000.
 */
const SIDE = 2_575;
const MB = 1_000_000;

const scratch = mkdtempSync(join(tmpdir(), 'darkroom-scratch-'));
const bench = await Bench.open();
const authorization = `Bearer ${bench.apiKey}`;
const rows: Record<string, object> = {};
try {
  const renderer = await bench.service({ TMPDIR: scratch });
  const call = {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk', size: '3840x2160', n: PICTURES }),
  };
  await drain(await fetch(`${renderer}/v1/images/generations`, call));
  await replaceWithNoise();

  // A new process, because one that has seen the tasks end has them in its cache.
  const api = await bench.service({ ROLE: 'api', TMPDIR: scratch });
  let idleMb = await warm(api);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const answer = async () => drain(await fetch(`${api}/v1/images/generations`, call));
    rows[`${PICTURES} pictures in one answer, ${round}`] = await measure(api, idleMb, answer);
  }

  const receiver = await bench.service({ ROLE: 'api', TMPDIR: scratch });
  idleMb = await warm(receiver);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const pictures: Buffer<ArrayBuffer>[] = [];
    for (let at = 0; at < UPLOADS; at += 1) pictures.push(await noise(SIDE, SIDE));
    const sendAll = async () =>
      (await Promise.all(pictures.map((one) => upload(receiver, one)))).reduce((sum, bytes) => sum + bytes);
    rows[`${UPLOADS} uploads at once, ${round}`] = await measure(receiver, idleMb, sendAll);
  }
} finally {
  await bench.close();
  rmSync(scratch, { recursive: true, force: true });
}
await report('large-bodies', rows, { 'load after': loadavg()[0]?.toFixed(1) });

/** @returns the resident memory of the idle process */
async function warm(url: string): Promise<number> {
  await upload(url, await noise(64, 64));
  await sleep(2_000);
  return residentMb(bench.pidOf(url)) ?? Number.NaN;
}

/** @param work returns how many bytes it moved */
async function measure(url: string, idleMb: number, work: () => Promise<number>): Promise<object> {
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, residentMb(bench.pidOf(url)) ?? 0)), 50);
  const startedAt = performance.now();
  const bytes = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(sampling);
  return {
    MB: Math.round(bytes / MB),
    seconds: round2(seconds),
    'idle MiB': idleMb,
    'most MiB': most,
    'growth MiB': most - idleMb,
  };
}

/** @returns the bytes of the picture */
async function upload(url: string, picture: Buffer<ArrayBuffer>): Promise<number> {
  const body = new FormData();
  body.set('file', new Blob([picture], { type: 'image/png' }), 'noise.png');
  await drain(await fetch(`${url}/v1/files`, { method: 'POST', headers: { authorization }, body }));
  return picture.length;
}

/** Reads the answer without keeping it. @returns the bytes of the answer */
async function drain(response: Response): Promise<number> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += chunk.length;
  return bytes;
}

/** Overwrites the outputs of the only task. */
async function replaceWithNoise(): Promise<void> {
  const db = new pg.Client(bench.databaseUrl);
  await db.connect();
  type Output = { storage_key: string; width: number; height: number; size_bytes: number };
  const [task] = (await db.query<{ id: string; result: Output[] }>('select id, result from tasks')).rows;
  if (!task) throw new Error('There is no task.');
  for (const output of task.result) {
    const picture = await noise(output.width, output.height);
    await writeFile(join(bench.dataDir, 'files', output.storage_key), picture);
    output.size_bytes = picture.length;
  }
  await db.query('update tasks_done set result = $2 where id = $1', [task.id, JSON.stringify(task.result)]);
  await db.end();
}

async function noise(width: number, height: number): Promise<Buffer<ArrayBuffer>> {
  const pixels = randomFillSync(Buffer.alloc(width * height * 3));
  const picture = sharp(pixels, { raw: { width, height, channels: 3 } }).png({ compressionLevel: 0 });
  return (await picture.toBuffer()) as Buffer<ArrayBuffer>;
}
