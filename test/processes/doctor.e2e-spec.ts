import { chmodSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { darkroom } from '../support/darkroom-command.ts';
import { writeExamples } from '../support/declared-examples.ts';
import { testEnv } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

interface Finding {
  check: string;
  ok: boolean;
  note: string;
}

const KEY = 'sk-a-key-of-the-operator-7730';

describe('darkroom doctor', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url));
  });
  afterAll(async () => {
    await database.drop();
    await rm(env.DATA_DIR as string, { recursive: true, force: true });
  });

  async function examine(providers: string, settings: Record<string, string> = {}) {
    const file = join(env.DATA_DIR as string, 'providers.yaml');
    writeFileSync(file, providers);
    const all = { ...env, PROVIDERS: file, ...settings };
    const { code, out: output } = await darkroom(['doctor', '--json'], all);
    expect(output).not.toContain(KEY);
    return { code, findings: JSON.parse(output) as Finding[] };
  }

  it('names the providers of each model, in order, and the missing credential', async () => {
    const { code, findings } = await examine(
      `models:
  gpt-image-2:
    - { provider: openai, model: gpt-image-2, credential: NOT_THERE }
    - { provider: fal, model: openai/gpt-image-2, credential: THERE }
  seedance-2: [{ provider: ark, model: seedance, credential: NOT_THERE }]`,
      { THERE: KEY },
    );
    expect(findings).toContainEqual({
      check: 'model',
      ok: true,
      note: 'gpt-image-2: openai (NOT_THERE is not set), then fal (THERE)',
    });
    expect(findings).toContainEqual({ check: 'model', ok: false, note: 'seedance-2: ark (NOT_THERE is not set)' });
    expect(findings).toContainEqual({ check: 'model', ok: true, note: 'nano-banana-2: sandbox' });
    expect(code).toBe(1); // no provider can serve seedance-2
    const note = expect.stringMatching(/^none for gpt-image-2 at openai, gpt-image-2 at fal,.* seedance-2 at ark$/);
    expect(findings).toContainEqual({ check: 'prices', ok: true, note });
  });

  it('names the servers of declared models, and every fault of their files', async () => {
    const MODELS = join(env.DATA_DIR as string, 'declared');
    writeExamples(MODELS);
    const { findings } = await examine('models: {}', { MODELS });
    const models = expect.stringMatching(/^6 declared in .*\/declared, set [0-9a-f]{12}$/);
    expect(findings).toContainEqual({ check: 'models', ok: true, note: models });
    expect(findings).toContainEqual({
      check: 'model',
      ok: true,
      note: 'qwen-image: openai/vllm-omni (2 addresses)',
    });
    const note = 'kling-3: fal (FAL_KEY is not set), then fal (FAL_KEY is not set)';
    expect(findings).toContainEqual({ check: 'model', ok: false, note });
    writeFileSync(join(MODELS, 'bad.yaml'), 'id: a\nkind: movie\ndescription: x\n');
    const bad = await examine('models: {}', { MODELS });
    const fault = expect.stringContaining('bad.yaml:2:7: kind: kind "movie" is not allowed');
    expect(bad.findings).toContainEqual({ check: 'models', ok: false, note: fault });
    expect(bad.code).toBe(1);
  });

  it('examines the database and DATA_DIR', async () => {
    const notesOf = (findings: Finding[], name: string) =>
      findings.filter(({ check }) => check === name).map(({ note }) => note);
    chmodSync(env.DATA_DIR as string, 0o755);
    const { findings: open } = await examine('models: {}');
    expect(open).toContainEqual({ check: 'DATA_DIR', ok: false, note: expect.stringContaining('has mode 0755') });
    chmodSync(env.DATA_DIR as string, 0o711);

    const { code, findings: before } = await examine('prices: [{ per_task: "0.5" }]');
    expect(before).toContainEqual({ check: 'DATA_DIR', ok: true, note: 'mode 0711' });
    expect(before).toContainEqual({ check: 'prices', ok: true, note: 'every bound model has one' });
    const alone = expect.stringMatching(/^WARNING no standby is synchronous/);
    expect(before).toContainEqual({ check: 'standbys', ok: true, note: alone });
    expect(code).toBe(0); // a warning is no failure
    const missing = 'the extensions pg_trgm and btree_gin are missing; a worker makes them where its role may';
    expect(notesOf(before, 'queue')).toEqual(['0 unfinished tasks']);
    expect(notesOf(before, 'words')).toEqual([`not indexed yet: ${missing}`]);

    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('create extension pg_trgm; create extension btree_gin');
    await client.query('create index task_words_gin on task_words using gin (api_key_id, prompt gin_trgm_ops)');
    await client.query(`update words_state set through = '2026-01-02 03:04Z'`);
    await client.end();
    const prices = [
      'per_task: 0, provider: sandbox, model: gpt-image-2, resolution: 2K',
      'per_second: 1, model: sora-2',
    ];
    const after = await examine(`prices:\n${prices.map((price) => `  - { ${price} }`).join('\n')}`);
    const unpriced =
      'none for gpt-image-2 at sandbox (in some sizes or qualities), nano-banana-2 at sandbox, nano-banana-pro at sandbox, seedance-2 at sandbox';
    expect(after.findings).toContainEqual({ check: 'prices', ok: true, note: unpriced });
    expect(after.code).toBe(0);
    expect(notesOf(after.findings, 'words')).toEqual(['indexed are tasks that ended until 2026-01-02 03:04 UTC']);
  });

  it.each([
    ['a provider that is not known', '{ provider: midjourney, model: x }', 'unknown provider "midjourney"'],
    ['a workflow that is not there', '{ provider: comfyui, model: ./none.json }', 'none.json'],
  ])('reports what would prevent a start: %s', async (_, binding, message) => {
    const { code, findings } = await examine(`models:\n  gpt-image-2: [${binding}]`);
    const fault = expect.objectContaining({ check: 'PROVIDERS', ok: false, note: expect.stringContaining(message) });
    expect(findings).toContainEqual(fault);
    expect(code).toBe(1);
  });
});
