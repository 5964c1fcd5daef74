/**
 * How fast, and in how much memory, does the sandbox render images and videos, compared with the least work for the
 * same size?
 *
 *     npm run bench -- render [rounds of an image, 7] [rounds of a video, 3]
 *
 * The least work is an image of one colour encoded by sharp, and a video of one colour encoded by ffmpeg (libx264
 * ultrafast), if it is installed. Each runs in its own process, at the priority of the sandbox's render threads. The
 * two sides alternate, and never run at the same time. The video of 15 s in 4K runs only once. The results are medians,
 * per second; the ratio is sandbox / least. Memory is the peak of the whole process, including Node and its libraries
 * (Linux only).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProviderRequest, ResolvedInput } from '../src/providers/contract/provider.ts';
import { brief, compare } from './support/compare.ts';
import { peakMb } from './support/memory.ts';
import { median, report } from './support/report.ts';

const PICTURE_ROUNDS = Number(process.argv[2] ?? 7);
const FILM_ROUNDS = Number(process.argv[3] ?? 3);
/** Scenes differ in cost, and the prompt chooses the scene. */
const PROMPTS = [
  'A lighthouse at dusk',
  'Ocean waves under a red sky',
  'A city at night',
  'Flowers in a spring meadow',
];

const RATIO = '16:9';

const built = (path: string) => import(new URL(`../dist/${path}`, import.meta.url).href);
const [{ findModel }, { FRAMES_PER_SECOND }] = await Promise.all([
  built('models/catalog.js'),
  import(new URL('../packages/sandbox/dist/film-frames.js', import.meta.url).href),
]);

interface Size {
  width: number;
  height: number;
}

interface Maker {
  /** @returns the seconds that it took */
  make(): Promise<number>;
  /** The peak memory in megabytes. */
  peakMb(): number | null;
  end(): Promise<void>;
}

const rows: Record<string, object> = {};
const loadBefore = loadavg()[0];

for (const resolution of ['1K', '2K', '4K']) {
  const request = (prompt: string) => requestOf('image', 'gpt-image-2', { prompt, resolution, n: 1 });
  const size: Size = findModel('gpt-image-2').sizes[RATIO][resolution];
  const name = `picture ${resolution}, ${size.width} x ${size.height}`;
  rows[name] = await versus(
    PICTURE_ROUNDS,
    await sandbox(request),
    await answering('baseline/flat-picture.ts', () => size),
  );
}
const films: [string, number, number][] = [
  ['720P', 5, FILM_ROUNDS],
  ['1080P', 5, FILM_ROUNDS],
  ['4K', 15, 1],
];
for (const [resolution, duration, rounds] of films) {
  const request = (prompt: string) => requestOf('video', 'sora-2', { prompt, resolution, duration });
  const size: Size = findModel('sora-2').sizes[RATIO][resolution];
  const name = `film ${resolution}, ${size.width} x ${size.height}, ${duration} s`;
  rows[name] = await versus(rounds, await sandbox(request), hasFfmpeg() ? ffmpeg(size, duration) : null);
}
await report('render', rows, {
  picture_rounds: PICTURE_ROUNDS,
  film_rounds: FILM_ROUNDS,
  frames_per_second: FRAMES_PER_SECOND,
  load_before: loadBefore,
});

async function versus(rounds: number, sandbox: Maker, least: Maker | null): Promise<object> {
  const perSecond = async (maker: Maker) => 1 / (await maker.make());
  try {
    if (!least) {
      const rates: number[] = [];
      for (let round = 0; round < rounds; round += 1) rates.push(await perSecond(sandbox));
      const rate = brief(median(rates));
      return { ratio: null, sandbox: rate, least: 'ffmpeg is not installed', sandbox_peak_mb: sandbox.peakMb() };
    }
    const row = await compare(rounds, ['sandbox', () => perSecond(sandbox)], ['least', () => perSecond(least)]);
    const [mine, other] = [sandbox.peakMb(), least.peakMb()];
    return {
      ...row,
      memory_ratio: mine !== null && other !== null ? brief(mine / other) : null,
      sandbox_peak_mb: mine,
      least_peak_mb: other,
    };
  } finally {
    await sandbox.end();
    await least?.end();
  }
}

function sandbox(request: (prompt: string) => ProviderRequest): Promise<Maker> {
  let nth = 0;
  return answering('support/sandbox-process.ts', () => request(PROMPTS[nth++ % PROMPTS.length] as string));
}

function requestOf(
  kind: 'image' | 'video',
  model: string,
  input: Omit<ResolvedInput, 'aspect_ratio'>,
): ProviderRequest {
  return {
    taskId: 'task_bench',
    model,
    kind,
    input: { aspect_ratio: RATIO, ...input },
    images: { references: [], firstFrame: null },
    upstream: { model: '', baseUrl: '', apiKey: null, durationPolicy: 'exact', pollIntervalMs: null },
  };
}

/** A process that replies to each message with the seconds that its work took. */
async function answering(file: string, nextMessage: () => object): Promise<Maker> {
  const path = new URL(file, import.meta.url).pathname;
  const child = spawnNicely(process.execPath, [path], true);
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`)));
  failed.catch(() => undefined); // the process also ends when everything is done, which is no failure
  const answer = async () => ((await Promise.race([once(child, 'message'), failed])) as [number])[0];
  const make = async () => {
    child.send(nextMessage());
    return answer();
  };
  await answer(); // the process is ready
  return {
    make,
    peakMb: () => peakMb(child.pid as number),
    end: async () => {
      child.kill();
      await failed.catch(() => undefined);
    },
  };
}

/** Starts an ffmpeg process for each video. */
function ffmpeg({ width, height }: Size, seconds: number): Maker {
  let peak: number | null = null;
  const make = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-'));
    const source = `color=c=0x334455:s=${width}x${height}:r=${FRAMES_PER_SECOND}:d=${seconds}`;
    const encoding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', join(folder, 'film.mp4')];
    const startedAt = performance.now();
    const child = spawnNicely('ffmpeg', ['-loglevel', 'error', '-f', 'lavfi', '-i', source, ...encoding], false);
    const sampler = setInterval(() => (peak = Math.max(peak ?? 0, peakMb(child.pid as number) ?? 0) || null), 10);
    const [code] = (await once(child, 'exit')) as [number];
    const took = (performance.now() - startedAt) / 1000;
    clearInterval(sampler);
    await rm(folder, { recursive: true });
    if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
    return took;
  };
  return { make, peakMb: () => peak, end: async () => undefined };
}

function hasFfmpeg(): boolean {
  return spawnSync('ffmpeg', ['-version']).status === 0;
}

function spawnNicely(command: string, args: string[], talks: boolean): ChildProcess {
  const niceness = String(constants.priority.PRIORITY_BELOW_NORMAL);
  const stdio = ['ignore', 'inherit', 'inherit', ...(talks ? (['ipc'] as const) : [])] as const;
  return spawn('nice', ['-n', niceness, command, ...args], { stdio: [...stdio] });
}
