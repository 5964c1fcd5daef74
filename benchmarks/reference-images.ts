/**
 * How much memory and disk do tasks with many large reference images take?
 *
 *     npm run bench -- reference-images [tasks, 50] [images a task, 16] [SCRATCH_MAX_BYTES, the default]
 *
 * The images are real PNG pictures of nearly 20 MB. A server on loopback sends them as fast as they are read. The
 * provider refuses every task at once, after its images were fetched and checked. Resident memory and bytes in the
 * temporary folder are sampled each 100 ms; memory is compared with the idle process after a first task.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFillSync } from 'node:crypto';
import pg from 'pg';
import sharp from 'sharp';
import { residentMb } from './support/memory.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const TASKS = Number(process.argv[2] ?? 50);
const IMAGES = Number(process.argv[3] ?? 16);
const BUDGET = process.argv[4];
/**
 * Pixels of a side. Noise does not compress, so a pixel takes 3 bytes, and the picture stays below the limit of
 * 20,000,000.
 */
const SIDE = 2_575;
const MB = 1_000_000;

const pixels = randomFillSync(Buffer.alloc(SIDE * SIDE * 3));
const picture = await sharp(pixels, { raw: { width: SIDE, height: SIDE, channels: 3 } })
  .png({ compressionLevel: 0 })
  .toBuffer();
let sentBytes = 0;
const server = createServer((_request, response) => {
  response.setHeader('content-type', 'image/png').end(picture, () => (sentBytes += picture.length));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

const scratch = mkdtempSync(join(tmpdir(), 'darkroom-scratch-'));
const bench = await Bench.open();
try {
  const url = await bench.service({
    TMPDIR: scratch,
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
    TASK_DEADLINE_IMAGE_S: '3600',
    ...(BUDGET && { SCRATCH_MAX_BYTES: BUDGET }),
  });
  const db = new pg.Client(bench.databaseUrl);
  await db.connect();
  const unfinished = async () =>
    (await db.query<{ n: number }>('select count(*)::int as n from tasks where completed_at is null')).rows[0]?.n;
  const create = (task: number, images: number) =>
    post(`${url}/v1/generations`, bench.apiKey, {
      model: 'gpt-image-2',
      prompt: '#fail:content_policy_violation',
      reference_images: Array.from({ length: images }, (_, at) => `http://127.0.0.1:${port}/${task}-${at}.png`),
    });
  const pid = bench.pidOf(url);
  await create(0, 1);
  while (await unfinished()) await sleep(50);
  await sleep(2_000);
  const idleMb = residentMb(pid) ?? Number.NaN;

  let [mostMb, mostBytes] = [idleMb, 0];
  const startedAt = performance.now();
  for (let task = 1; task <= TASKS; task += 1) await create(task, IMAGES);
  while (await unfinished()) {
    mostMb = Math.max(mostMb, residentMb(pid) ?? 0);
    mostBytes = Math.max(mostBytes, await bytesIn(scratch));
    await sleep(100);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { rows } = await db.query<{ code: string; n: number }>(
    `select error->>'code' as code, count(*)::int as n from tasks group by 1 order by 1`,
  );
  await db.end();
  const row = {
    seconds: Math.round(seconds),
    'GB fetched': Math.round(sentBytes / 10 / MB) / 100,
    'idle MiB': idleMb,
    'most MiB': mostMb,
    'growth MiB': mostMb - idleMb,
    'most MB on disk': Math.round(mostBytes / MB),
    outcomes: rows.map(({ code, n }) => `${n} ${code}`).join(', '),
  };
  await report(
    'reference-images',
    { [`${TASKS} tasks of ${IMAGES} x ${(picture.length / MB).toFixed(1)} MB`]: row },
    { SCRATCH_MAX_BYTES: BUDGET ?? 'default', 'load after': loadavg()[0]?.toFixed(1) },
  );
} finally {
  await bench.close();
  server.closeAllConnections();
  server.close();
  rmSync(scratch, { recursive: true, force: true });
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    const size = await stat(join(entry.parentPath, entry.name)).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0, // the file was removed while the folder was listed
    );
    bytes += size;
  }
  return bytes;
}
