import { execFileSync } from 'node:child_process';
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { Scrape } from '../support/metrics.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

const SCRIPT = new URL('./model-reloads.mjs', import.meta.url).pathname;
/** Each version that stays costs 35 kB. */
const MOST_GROWTH = 8_000_000;

it('a thousand reloads of the folder of models leave no model in memory', () => {
  const out = execFileSync(process.execPath, ['--expose-gc', SCRIPT], { encoding: 'utf8' });
  const [first, last] = JSON.parse(out) as [number, number];
  expect(last - first).toBeLessThan(MOST_GROWTH);
}, 600_000);

describe('under load', () => {
  const RELOADS = 1_000;
  /** In place of every so manieth reload the folder gets a wrong file. */
  const WRONG = 20;
  const FIRST = 100;
  /** So many tasks are created beside the reloads. */
  const TASKS = 1_000;
  let database: TestDatabase;
  let service: ServiceProcess;
  let folder: string;
  let baseUrl: string;
  beforeAll(async () => {
    database = await cloneDatabase();
    const { env } = await testEnv(database.url, { MODELS_WATCH_S: '0', LOG_LEVEL: 'info', LOG_REQUESTS: 'errors' });
    folder = env.MODELS = join(env.DATA_DIR as string, 'declared');
    baseUrl = env.PUBLIC_URL as string;
    mkdirSync(folder);
    write(FIRST);
    service = await spawnService(env);
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await database?.drop();
  });

  const text = (id: string, maxLength: number, kind = 'image') => `id: ${id}
kind: ${kind}
description: A model.
parameters: { prompt: { maxLength: ${maxLength} } }
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings: [{ provider: sandbox }]
`;
  /** Both models have the same bound, so two bounds would be half of a set. */
  function write(maxLength: number): void {
    for (const id of ['one', 'two']) writeFileSync(join(folder, `${id}.yaml`), text(id, maxLength));
  }
  async function bounds(): Promise<number[]> {
    type Listed = { id: string; parameters: { properties: { prompt: { maxLength: number } } } };
    const { body } = await service.api.get<{ data: Listed[] }>('/v1/models');
    const declared = body.data.filter(({ id }) => ['one', 'two'].includes(id));
    return declared.map(({ parameters }) => parameters.properties.prompt.maxLength);
  }
  const logged = (event: string) => service.output().split(`"event":"${event}"`).length - 1;
  const rejected = async () => (await Scrape.of(baseUrl)).value('darkroom_models_rejected');

  it('a thousand reloads show no half set and lose no task, and a wrong file changes nothing', async () => {
    const over = new AbortController();
    const halves: number[][] = [];
    const tasks: string[] = [];
    const look = async () => {
      while (!over.signal.aborted) {
        const seen = await bounds();
        if (seen.length !== 2 || seen[0] !== seen[1]) halves.push(seen);
      }
    };
    const create = async () => {
      for (let at = 0; at < TASKS && !over.signal.aborted; at += 1) {
        const { status, body, text } = await service.api.create({
          model: at % 2 ? 'one' : 'two',
          prompt: '#delay:0.1',
        });
        if (status !== 201) throw new Error(text);
        tasks.push(body.task_id);
        if (at % 10 === 0) await service.api.untilFinal(body.task_id);
      }
    };
    const loadedAt = async () => (await Scrape.of(baseUrl)).value('darkroom_models_loaded_timestamp_seconds');
    const startedAt = await loadedAt();
    const load = Promise.all([look(), create()]).then(
      () => null,
      (error: unknown) => {
        over.abort();
        return error;
      },
    );
    let inForce = FIRST;
    try {
      for (let reload = 1; reload <= RELOADS && !over.signal.aborted; reload += 1) {
        write(FIRST + reload);
        const isWrong = reload % WRONG === 0;
        const bad = join(folder, 'bad.yaml');
        if (isWrong) writeFileSync(bad, text('bad', reload, `movie-${reload}`));
        service.child.kill('SIGHUP');
        if (isWrong) {
          await eventually('the refusal', async () => (await rejected()) === 1);
          expect(await bounds()).toEqual([inForce, inForce]);
          unlinkSync(bad);
        } else {
          await eventually('the new set', async () => (await bounds())[0] === FIRST + reload);
          inForce = FIRST + reload;
        }
      }
      await eventually('the last set', async () => {
        service.child.kill('SIGHUP');
        return (await rejected()) === 0;
      });
    } finally {
      over.abort();
    }
    expect(await load).toBeNull();
    expect(halves).toEqual([]);
    const ends = new Map<string, number>();
    for (const id of tasks) {
      const { status } = await service.api.untilFinal(id);
      ends.set(status, (ends.get(status) ?? 0) + 1);
    }
    expect([...ends]).toEqual([['succeeded', tasks.length]]);
    expect(await loadedAt()).toBeGreaterThan(startedAt!);
    // Each set has a line of its own.
    expect(logged('models.loaded')).toBeGreaterThan(RELOADS / 2);
    expect(logged('models.rejected')).toBeGreaterThan(0);
  }, 1_200_000);
});
