import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import S3rver from 's3rver';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { freePort } from '../../support/free-port.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { ComfyuiStub } from '../../support/stubs/comfyui.stub.ts';
import { eventually } from '../../support/wait.ts';

/** How long each of them is away. */
const LONG = process.env.DARKROOM_TEST_LONG === '1';
const AWAY_MS = LONG ? 60_000 : 2_000;
/** Films that are created while the bucket is away and the service knows it. */
const UNBOUGHT = LONG ? 60 : 24;
const WORKERS = 10;
/** Between two creations of a film and a picture. */
const EVERY_MS = LONG ? 1_000 : 250;

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
const aPicture = { model: 'nano-banana-2', prompt: 'A red kite' };

describe('under load', () => {
  const ark = new ArkStub();
  const comfy = new ComfyuiStub();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-away-'));
  let port: number;
  let bucket: S3rver;
  let service: OwnService;
  const films: string[] = [];
  const pictures: string[] = [];
  let timer: NodeJS.Timeout;
  const creations = new Set<Promise<void>>();

  const openBucket = async () => {
    const configureBuckets = [{ name: 'results', configs: [] }];
    const directory = join(folder, 'buckets');
    bucket = new S3rver({ address: '127.0.0.1', port, silent: true, directory, configureBuckets });
    await bucket.run();
  };

  /** A connection with a request under way would otherwise stay open, and the service would go on using it. */
  const closeBucket = async () => {
    const closed = bucket.close();
    (bucket as unknown as { httpServer: Server }).httpServer.closeAllConnections(); // its types leave this out
    await closed;
  };

  /** One more film and one more picture, however the service fares. */
  const createBoth = async () => {
    films.push((await service.api.create(aFilm)).body.task_id);
    pictures.push((await service.api.create(aPicture)).body.task_id);
  };

  const oneMore = async () => {
    const before = films.length;
    await eventually('one more film', async () => films.length > before);
  };

  /** @returns seconds until every task has ended */
  const allSucceed = async (): Promise<number> => {
    clearInterval(timer);
    await Promise.all(creations);
    const startedAt = performance.now();
    for (const id of [...films, ...pictures]) {
      const task = await service.api.untilFinalWithin(id, 240_000);
      expect([id, task.status, task.error]).toEqual([id, 'succeeded', undefined]);
    }
    return Math.round((performance.now() - startedAt) / 100) / 10;
  };

  beforeAll(async () => {
    await Promise.all([ark.start(), comfy.start()]);
    ark.real = true;
    ark.steps = { queued: 2, running: 5 };
    comfy.engine.tiny = true;
    comfy.engine.nodeMs = 20;
    port = await freePort();
    await openBucket();
    const file = join(folder, 'providers.json');
    const seedance = { provider: 'ark', model: 'doubao-seedance-2-0-260128', base_url: ark.baseUrl };
    const klein = { provider: 'comfyui', model: 'default', base_url: comfy.url };
    writeFileSync(file, JSON.stringify({ models: { 'seedance-2': [seedance], 'nano-banana-2': [klein] } }));
    service = await startOwnService({
      PROVIDERS: file,
      ARK_API_KEY: ark.key,
      PROVIDER_POLL_INTERVAL_MS: '200',
      STORAGE_URL: `s3://results?endpoint=http://127.0.0.1:${port}&region=eu-central-1`,
      // The only credentials that the test server accepts.
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      WORKER_CONCURRENCY: String(WORKERS),
      LOG_LEVEL: 'error',
    });
  });
  beforeEach(async () => {
    films.length = pictures.length = ark.submits = 0;
    timer = setInterval(() => {
      const creation = createBoth().finally(() => creations.delete(creation));
      creations.add(creation);
    }, EVERY_MS);
    await eventually('films under way', async () => ark.submits >= 3);
  });
  afterEach(() => clearInterval(timer));
  afterAll(async () => {
    await service?.close();
    await Promise.all([ark.stop(), comfy.stop(), closeBucket()]);
    rmSync(folder, { recursive: true });
  });

  /** Nothing is bought twice: as many submits as films. */
  const assertBoughtOnce = (what: string, seconds: number) => {
    expect(ark.submits).toBe(films.length);
    const tasks = films.length + pictures.length;
    if (!LONG) return;
    const figures = {
      away: what,
      seconds: AWAY_MS / 1000,
      tasks,
      films_bought: ark.submits,
      all_made_s_later: seconds,
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
  };

  it('no task fails, and nothing is bought twice, while the provider of films is away', async () => {
    await ark.stop();
    await sleep(AWAY_MS);
    await ark.start();
    await oneMore();
    assertBoughtOnce('provider', await allSucceed());
  }, 600_000);

  it('no task fails, and nothing is bought twice, while the bucket is away', async () => {
    const written = service.output().length;
    await closeBucket();
    // Until the first result could not be stored, the service buys on.
    await eventually('the service to notice', async () => service.output().slice(written).includes('storage.failed'));
    const [before, made] = [ark.submits, films.length];
    await eventually('more films', async () => films.length >= made + UNBOUGHT);
    const bought = ark.submits - before;
    await openBucket();
    await oneMore();
    assertBoughtOnce('bucket', await allSucceed());
    expect(bought).toBeLessThanOrEqual(WORKERS); // only those whose runs were under way
  }, 600_000);

  it('no task fails while ComfyUI is away and has lost its running and waiting runs', async () => {
    comfy.engine.held = true;
    await eventually('runs', async () => comfy.engine.running && comfy.engine.pending.length >= 2);
    const lost = 1 + comfy.engine.pending.length;
    await comfy.kill();
    comfy.engine.held = false;
    await sleep(AWAY_MS);
    await comfy.listen();
    await oneMore();
    assertBoughtOnce(`ComfyUI (${lost} runs lost)`, await allSucceed());
  }, 600_000);
});
