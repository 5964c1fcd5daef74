import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorBody } from '../support/clients/api.ts';
import { byName, mcpClient } from '../support/clients/mcp.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { installWithoutDevelopment } from '../support/installed.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

const INK = `id: ink
kind: image
description: Drawings in ink.
parameters: { prompt: {} }
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings: [{ provider: sandbox }]
`;

/** Starts a copy of the build whose folder `models/builtin` is gone. */
describe('without the files of the built-in models', () => {
  let installed: string;
  let database: TestDatabase;
  let service: ServiceProcess;
  let models: string;

  beforeAll(async () => {
    installed = installWithoutDevelopment();
    rmSync(join(installed, 'models/builtin'), { recursive: true });
    database = await cloneDatabase();
    models = join(installed, 'declared');
    mkdirSync(models);
    const { env } = await testEnv(database.url, { DATA_DIR: installed, MODELS: models, MODELS_WATCH_S: '0.05' });
    service = await spawnService(env, join(installed, 'dist/main.js'));
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await database?.drop();
    rmSync(installed, { recursive: true, force: true });
  });

  const ids = async () => {
    const { body } = await service.api.get<{ data: { id: string }[] }>('/v1/models');
    return body.data.map(({ id }) => id);
  };

  it('there is no model, and no interface makes anything', async () => {
    expect(await ids()).toEqual([]);
    const { api } = service;
    for (const model of ['gpt-image-2', 'sora-2']) {
      const refused = await api.create<ErrorBody>({ model, prompt: 'a fox' });
      expect([refused.status, refused.body.error]).toEqual([
        400,
        expect.objectContaining({ code: 'model_not_found', param: 'model' }),
      ]);
    }
    const picture = await api.call<ErrorBody>('POST', '/v1/images/generations', { prompt: 'a fox' });
    const film = await api.call<ErrorBody>('POST', '/v1/videos', { prompt: 'a wave' });
    expect([picture.body.error.code, film.body.error.code]).toEqual(['model_not_found', 'model_not_found']);
    const { body } = await api.call('POST', '/graphql', { query: '{ models { id } }' });
    expect(body).toEqual({ data: { models: [] } });
  });

  it('those of the operator are all there are', async () => {
    writeFileSync(join(models, 'ink.yaml'), INK);
    await eventually('the model', async () => (await ids()).includes('ink'));
    expect(await ids()).toEqual(['ink']);
    const { body } = await service.api.create({ model: 'ink', prompt: 'a fox' });
    expect(await service.api.untilFinal(body.task_id)).toMatchObject({ status: 'succeeded', model: 'ink' });
    const client = await mcpClient('legacy', new URL('/mcp', service.api.baseUrl), { key: service.api.key! });
    const { tools } = await client.listTools();
    expect(byName(tools, 'generate_image').inputSchema.properties!.model).toMatchObject({ enum: ['ink'] });
    await client.close();
  });
});
