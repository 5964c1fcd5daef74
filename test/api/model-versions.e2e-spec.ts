// Own settings: a folder of models that the tests change, looked at often.
import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { catalog } from '../../src/models/catalog.ts';
import { ModelVersion } from '../../src/models/versions/model-version.entity.ts';
import { ModelVersions } from '../../src/models/versions/model-versions.ts';
import type { Sql, Statement } from '../../src/platform/database/sql.ts';
import { PURGE_VERSIONS, PurgeRows } from '../../src/tasks/sql/purge-rows.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const declared = (id: string, maxLength: number, more = '') => `id: ${id}
kind: image
description: A model.
parameters: { prompt: { maxLength: ${maxLength} } }
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings: [{ provider: sandbox }]
${more}`;

const folder = mkdtempSync(join(tmpdir(), 'darkroom-versions-'));
let service: OwnService;
beforeAll(async () => {
  for (const id of ['kept', 'changed', 'gone', 'repeated', 'taken', 'retried']) write(id, 100);
  service = await startOwnService({ MODELS: folder, MODELS_WATCH_S: '0.05', TASK_SWEEP_S: '0.3' });
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true });
});

/** At once: the service looks often, and might see half a file. */
function write(id: string, maxLength: number, more = ''): void {
  writeFileSync(join(folder, `.${id}.yaml`), declared(id, maxLength, more));
  renameSync(join(folder, `.${id}.yaml`), join(folder, `${id}.yaml`));
}

const versionOf = async (id: string) => (await service.api.get<{ version: string }>(`/v1/models/${id}`)).body.version;
const create = (body: object, headers: object = {}) => service.api.create<Record<string, any>>(body, headers);

/** A task that waits until the pause of its model ends. */
async function waiting(model: string) {
  const { body: pause } = await service.api.call<{ id: string }>('POST', '/v1/operations/pauses', {
    model,
    reason: 'x',
  });
  const { body } = await create({ model, prompt: 'a long prompt of thirty letters' });
  const resume = () => service.api.call('DELETE', `/v1/operations/pauses/${pause.id}`);
  return { id: body.task_id as string, version: body.model_version as string, resume };
}

it('is of the model that was loaded when the task was created', async () => {
  const { body, headers } = await create({ model: 'kept', prompt: 'x' });
  expect(body.model_version).toBe(await versionOf('kept'));
  expect(headers.get('model-version')).toBe(body.model_version);
  const rows = await queryOnce(service.database.url, 'select document from model_versions where id = $1', ['kept']);
  expect(rows).toMatchObject([{ document: { declaration: { id: 'kept' } } }]);
});

it('follows the file at the first start of a task whose input it takes', async () => {
  const task = await waiting('kept');
  write('kept', 200);
  await eventually('the change', async () => (await versionOf('kept')) !== task.version);
  await task.resume();
  expect(await service.api.untilFinal(task.id)).toMatchObject({
    status: 'succeeded',
    model_version: await versionOf('kept'),
  });
});

it('stays where the file does not take the input any more', async () => {
  const task = await waiting('changed');
  write('changed', 5);
  await eventually('the change', async () => (await versionOf('changed')) !== task.version);
  await task.resume();
  expect(await service.api.untilFinal(task.id)).toMatchObject({ status: 'succeeded', model_version: task.version });
});

it('outlives the file: its task ends normally, and the model is retired', async () => {
  const task = await waiting('gone');
  write('gone', 100, 'lifecycle: { replacement: kept }');
  await eventually('the replacement', async () => {
    const { body } = await service.api.get<Record<string, any>>('/v1/models/gone');
    return body.lifecycle.replacement === 'kept';
  });
  unlinkSync(join(folder, 'gone.yaml'));
  await eventually('the end of the model', async () => {
    const { body } = await service.api.get<Record<string, any>>('/v1/models/gone');
    return body.lifecycle?.status === 'retired';
  });
  const { status, body } = await create({ model: 'gone', prompt: 'x' });
  expect([status, body.error.code, body.error.message]).toEqual([
    400,
    'model_not_found',
    'gone is retired. Use kept instead.',
  ]);
  await task.resume();
  expect(await service.api.untilFinal(task.id)).toMatchObject({ status: 'succeeded', model_version: task.version });
  write('gone', 100);
  await eventually('the file back', async () => (await create({ model: 'gone', prompt: 'x' })).status === 201);
});

it('stays with a running task that another worker takes over, even if the file is gone', async () => {
  const { body: task } = await create({ model: 'taken', prompt: '#hang' });
  await service.api.until(task.task_id, 'running');
  unlinkSync(join(folder, 'taken.yaml'));
  await eventually('the end of the model', async () => (await create({ model: 'taken', prompt: 'x' })).status === 400);
  await service.api.call('POST', `/v1/operations/tasks/${task.task_id}/release`, {});
  await eventually('another claim', async () => {
    const { body } = await service.api.get<Record<string, any>>(`/v1/operations/tasks/${task.task_id}`);
    return body.attempt > 2 && body.worker_id !== null; // the release counts too
  });
  const { body } = await service.api.get<Record<string, any>>(`/v1/tasks/${task.task_id}`);
  expect(body).toMatchObject({ status: 'running', model_version: task.model_version });
  await service.api.call('POST', `/v1/tasks/${task.task_id}/cancel`, {});
});

it('is that of today for a retry, which today may refuse', async () => {
  const { body: failed } = await create({ model: 'retried', prompt: 'a long prompt #fail:provider_timeout' });
  await service.api.untilFinal(failed.task_id);
  write('retried', 200);
  await eventually('the change', async () => (await versionOf('retried')) !== failed.model_version);
  const retry = () => service.api.call<Record<string, any>>('POST', `/v1/tasks/${failed.task_id}/retry`, {});
  expect((await retry()).body).toMatchObject({ model_version: await versionOf('retried') });
  write('retried', 5);
  const refused = await eventually('the refusal', async () => {
    const answer = await retry();
    return answer.status === 400 && answer.body.error;
  });
  expect(refused).toMatchObject({ code: 'string_too_long', param: 'input.prompt' });
});

it('does not change what a repeated request is answered', async () => {
  const body = { model: 'repeated', prompt: 'a long prompt of thirty letters' };
  const key = { 'idempotency-key': 'repeated-1' };
  const first = await create(body, key);
  write('repeated', 5);
  await eventually('the change', async () => (await versionOf('repeated')) !== first.body.model_version);
  const again = await create(body, key);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.headers.get('model-version')).toBe(await versionOf('repeated'));
  unlinkSync(join(folder, 'repeated.yaml'));
  await eventually('the end of the model', async () => (await create({ ...body, prompt: 'x' })).status === 400);
  const last = await create(body, key);
  expect([last.status, last.text]).toEqual([201, first.text]);
});

describe('the purge of versions', () => {
  let client: Client;
  let rows: PurgeRows;
  beforeAll(async () => {
    client = new Client({ connectionString: service.database.url });
    await client.connect();
    const run = async ({ text }: Statement, values: unknown[] = []) => (await client.query({ text, values })).rows;
    rows = new PurgeRows({ run } as unknown as Sql);
  });
  afterAll(() => client.end());

  const query = <Row extends object>(text: string, values: unknown[] = []) =>
    queryOnce<Row>(service.database.url, text, values);
  /** @param daysAgo of the last time that it was loaded, and of its creation */
  const add = (id: string, version: string, daysAgo: [number, number]) =>
    query(
      `insert into model_versions (id, version, document, loaded_at, created_at)
       values ($1, $2, '{}', now() - make_interval(days => $3), now() - make_interval(days => $4))`,
      [id, version, ...daysAgo],
    );
  const left = async (id: string) => {
    const found = await query<{ version: string }>('select version from model_versions where id = $1 order by 1', [id]);
    return found.map(({ version }) => version);
  };

  it('takes what no process has loaded for a day, and leaves the row that says since when the model is there', async () => {
    await add('alone', 'a', [2, 3]);
    await add('loaded', 'a', [0, 3]);
    for (const [at, version] of ['first', 'second', 'third'].entries()) await add('several', version, [2, 9 - at]);
    await rows.deleteUnnamedVersions();
    expect([await left('alone'), await left('loaded'), await left('several')]).toEqual([[], ['a'], ['first']]);
  });

  it('leaves a version as long as a task names it', async () => {
    const waits = await waiting('kept');
    const { body } = await create({ model: 'kept', prompt: 'x' });
    await query(`update model_versions set loaded_at = now() - interval '2 days' where id = 'kept'`);
    await add('kept', 'unnamed', [2, 0]);
    await rows.deleteUnnamedVersions();
    expect(await left('kept')).toContain(waits.version);
    expect(await left('kept')).not.toContain('unnamed');
    await waits.resume();
    await service.api.untilFinal(waits.id);
    await service.api.untilFinal(body.task_id);
    await rows.deleteUnnamedVersions();
    expect(await left('kept')).toContain(waits.version);
    await query(`delete from tasks_done where model = 'kept'`);
    await rows.deleteUnnamedVersions();
    expect((await left('kept')).length).toBeLessThanOrEqual(1);
  });

  it('passes over a version that is being loaded, of which a task may come at once', async () => {
    await add('again', 'a', [2, 3]);
    const other = new Client({ connectionString: service.database.url });
    await other.connect();
    await other.query('begin');
    await other.query(`update model_versions set loaded_at = now() where id = 'again'`);
    await rows.deleteUnnamedVersions();
    await other.query('commit');
    await other.end();
    await rows.deleteUnnamedVersions();
    expect(await left('again')).toEqual(['a']);
  });

  it('takes no more in a round than its bound', async () => {
    await query(
      `insert into model_versions (id, version, document, loaded_at)
       select 'many-' || n, 'a', '{}', now() - interval '2 days' from generate_series(1, $1) n`,
      [PURGE_VERSIONS + 1],
    );
    expect(await rows.deleteUnnamedVersions()).toBe(PURGE_VERSIONS);
  });

  it('is told which versions are loaded, and gets back one that it has taken from a process that was stopped', async () => {
    const source = await new DataSource({
      type: 'postgres',
      url: service.database.url,
      entities: [ModelVersion],
    }).initialize();
    const versions = new ModelVersions(source.getRepository(ModelVersion));
    const [first, second] = catalog.shipped;
    await query(`update model_versions set loaded_at = now() - interval '2 days', document = '{}' where id = $1`, [
      first!.id,
    ]);
    await versions.stillLoaded([first!]);
    const kept = "select document, loaded_at > now() - interval '1 hour' as is_new from model_versions where id = $1";
    expect(await query(kept, [first!.id])).toEqual([{ document: {}, is_new: true }]);
    await query('delete from model_versions where id = $1', [second!.id]);
    await versions.stillLoaded([first!, second!]);
    expect(await query(kept, [second!.id])).toMatchObject([{ document: { declaration: {} }, is_new: true }]);
    await source.destroy();
  });
});
