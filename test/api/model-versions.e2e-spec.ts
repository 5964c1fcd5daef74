// Own settings: a folder of models that the tests change, looked at often.
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  for (const id of ['kept', 'changed', 'gone', 'repeated']) write(id, 100);
  service = await startOwnService({ MODELS: folder, MODELS_WATCH_S: '0.05', TASK_SWEEP_S: '0.3' });
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true });
});

function write(id: string, maxLength: number, more = ''): void {
  writeFileSync(join(folder, `${id}.yaml`), declared(id, maxLength, more));
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
