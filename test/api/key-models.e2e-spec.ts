// Own settings: a folder of models, of which one is for listed keys only.
import type { CallToolResult } from '@modelcontextprotocol/client';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, type ErrorBody } from '../support/clients/api.ts';
import { Browser } from '../support/clients/browser.ts';
import { aPicture } from '../support/clients/files.ts';
import { byName, faultOf, mcpClient } from '../support/clients/mcp.ts';
import { darkroom } from '../support/darkroom-command.ts';
import { type OwnService, startOwnService } from '../support/service.ts';

const model = (id: string, kind: 'image' | 'video', access: 'open' | 'listed') => `id: ${id}
kind: ${kind}
description: One of several.
aliases: [${id}-latest]
access: ${access}
parameters:
  prompt: {}
  ${kind === 'video' ? 'duration: { maximum: 2, default: 1 }' : 'n: { maximum: 2 }'}
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings: [{ provider: sandbox }]
`;

const folder = mkdtempSync(join(tmpdir(), 'darkroom-key-models-'));
let service: OwnService;
/** Names ink and every wax model. */
let bounded: Api;

beforeAll(async () => {
  writeFileSync(join(folder, 'ink.yaml'), model('ink', 'image', 'listed'));
  writeFileSync(join(folder, 'wax.yaml'), model('wax-2', 'image', 'open'));
  writeFileSync(join(folder, 'clay.yaml'), model('clay', 'image', 'open'));
  writeFileSync(join(folder, 'film.yaml'), model('secret-film', 'video', 'listed'));
  service = await startOwnService({ MODELS: folder, TASK_SWEEP_S: '0.3' });
  bounded = await keyWith({ models: ['ink', 'wax*'] });
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true });
});

type Json = Record<string, any>;
const ALL = ['generations:write', 'tasks:read', 'keys:manage'];

async function keyWith(fields: object, by: Api = service.api): Promise<Api> {
  const { body, text } = await by.call<Json>('POST', '/v1/api_keys', { name: 'x', scopes: ALL, ...fields });
  if (!body.key) throw new Error(text);
  return new Api(service.baseUrl, body.key);
}
const idsOf = async (api: Api): Promise<string[]> => {
  const { body } = await api.get<{ data: { id: string }[] }>('/v1/models');
  return body.data.map(({ id }) => id);
};
const post = async (api: Api, path: string, body: object): Promise<Json> =>
  (await api.call<Json>('POST', path, body)).body;
const NOT_ALLOWED = { code: 'model_not_allowed', param: 'model' };

describe('every edge', () => {
  const anImage = { model: 'clay', prompt: 'a fox' };
  const aFilm = { model: 'secret-film', prompt: 'a wave' };
  const create = (input: string) => ({ query: `mutation { createGeneration(input: ${input}) { taskId } }` });
  const graphqlFault = ({ errors }: Json): Json => ({ error: errors[0].extensions });
  const itemFault = ({ error }: Json): Json => ({ error: error.errors[0] });
  const same = (body: Json): Json => body;

  it.each<[string, string, object, (body: Json) => Json]>([
    ['a creation', '/v1/generations', anImage, same],
    ['an estimate', '/v1/estimates', anImage, same],
    ['pictures as at OpenAI', '/v1/images/generations', anImage, same],
    ['pictures by an alias', '/v1/images/generations', { ...anImage, model: 'clay-latest' }, same],
    ['an edit as at OpenAI', '/v1/images/edits', { ...anImage, images: [{ file_id: 'file_x' }] }, same],
    ['a stream as at OpenAI', '/v1/images/generations', { ...anImage, stream: true, partial_images: 1 }, same],
    ['a film as at OpenAI', '/v1/videos', aFilm, same],
    ['a creation over GraphQL', '/graphql', create('{ model: "clay", prompt: "a fox" }'), graphqlFault],
    [
      'an estimate over GraphQL',
      '/graphql',
      { query: '{ estimateGeneration(input: { model: "clay", prompt: "a fox" }) { model } }' },
      graphqlFault,
    ],
    ['an item of a batch', '/v1/batches', { requests: [{ custom_id: 'a', body: anImage }] }, itemFault],
    ...[
      ['/v1/images/generations', anImage],
      ['/v1/images/edits', { ...anImage, images: [{ file_id: 'file_x' }] }],
      ['/v1/videos', aFilm],
    ].map(([endpoint, body]): [string, string, object, (body: Json) => Json] => [
      `an item of ${endpoint as string}`,
      '/v1/batches',
      { endpoint, requests: [{ custom_id: 'a', body }] },
      itemFault,
    ]),
    [
      'an item of a batch over GraphQL',
      '/graphql',
      { query: 'mutation { createBatch(input: { requests: [{ body: { model: "clay", prompt: "x" } }] }) { id } }' },
      (body) => itemFault(graphqlFault(body)),
    ],
  ])('refuses %s of a model that the key does not name', async (_name, path, body, faultIn) => {
    const answer = await bounded.call<Json>('POST', path, body);
    const { error } = faultIn(answer.body);
    expect(error).toMatchObject(NOT_ALLOWED);
    if (faultIn === same) expect(answer.status).toBe(403);
  });

  it('refuses an edit that comes as a form, and keeps nothing of it', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(anImage)) form.append(name, value);
    form.append('image', new Blob([new Uint8Array(await aPicture())], { type: 'image/png' }), 'a.png');
    const headers = { authorization: `Bearer ${bounded.key}` };
    const answer = await fetch(`${service.baseUrl}/v1/images/edits`, { method: 'POST', headers, body: form });
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: NOT_ALLOWED }]);
    expect((await bounded.get<Json>('/v1/files')).body.data).toEqual([]);
  });

  it('holds for a browser that has signed in with the key', async () => {
    const browser = new Browser(service.baseUrl);
    await browser.signIn({ api_key: bounded.key });
    const lists = await browser.ask<Json>('{ models { id } }');
    expect(lists.data).toEqual({ models: [{ id: 'ink' }, { id: 'wax-2' }] });
    const input = '(input: { model: "clay", prompt: "x" })';
    const asked = [
      ['{ model(id: "clay") { id } }', 'model_not_found'],
      [`mutation { createGeneration${input} { taskId } }`, 'model_not_allowed'],
      [`{ estimateGeneration${input} { model } }`, 'model_not_allowed'],
    ];
    for (const [query, code] of asked) {
      expect((await browser.ask(query!)).errors?.[0]?.extensions.code).toBe(code);
    }
  });

  it('refuses a listed model to a key that names none', async () => {
    expect((await service.api.create<ErrorBody>({ model: 'ink', prompt: 'x' })).body.error).toMatchObject(NOT_ALLOWED);
    expect((await service.api.create({ model: 'clay', prompt: 'x' })).status).toBe(201);
  });

  it('takes the models that the key names, exact or by their beginning', async () => {
    for (const id of ['ink', 'wax-2']) {
      expect((await bounded.create({ model: id, prompt: 'x' })).status).toBe(201);
      expect(await post(bounded, '/v1/images/generations', { model: id, prompt: 'x' })).toHaveProperty('data');
    }
  });

  it('leaves other models out of its lists and of what it names', async () => {
    expect(await idsOf(bounded)).toEqual(['ink', 'wax-2']);
    expect(await idsOf(service.api)).toEqual(expect.arrayContaining(['clay', 'wax-2']));
    expect(await idsOf(service.api)).not.toEqual(expect.arrayContaining(['ink']));
    const { data } = await post(bounded, '/graphql', { query: '{ models { id } }' });
    expect(data.models).toEqual([{ id: 'ink' }, { id: 'wax-2' }]);
    const one = await post(bounded, '/graphql', { query: '{ model(id: "clay") { id } }' });
    expect(one.errors[0].extensions).toMatchObject({ code: 'model_not_found' });
    expect(await bounded.get('/v1/models/clay')).toMatchObject({ status: 404 });
    expect(await service.api.get('/v1/models/ink')).toMatchObject({ status: 404 });
    expect(await bounded.get('/v1/models/ink')).toMatchObject({ status: 200 });
    for (const path of ['/v1/generations', '/v1/images/generations']) {
      const { error } = await post(bounded, path, { model: 'gone', prompt: 'x' });
      expect(error.message).toMatch(/ink.*wax-2/);
      expect(error.message).not.toMatch(/clay|gpt-image-2/);
      expect((await post(service.api, path, { model: 'gone', prompt: 'x' })).error.message).not.toMatch(/ink/);
    }
    const refused = await post(bounded, '/v1/generations', { model: 'ink', prompt: 'x', duration: 5 });
    expect(refused.error).toMatchObject({ code: 'unsupported_parameter', param: 'duration' });
    expect(refused.error.message).not.toMatch(/film|sora-2/);
  });

  it('holds for agents', async () => {
    const client = await mcpClient('modern', new URL('/mcp', service.baseUrl), { key: bounded.key! });
    const call = (name: string, given: Record<string, unknown>) =>
      client.callTool({ name, arguments: given }) as Promise<CallToolResult>;
    try {
      const { tools } = await client.listTools();
      const { properties } = byName(tools, 'generate_image').inputSchema as { properties: Json };
      expect(properties.model).toMatchObject({ enum: ['ink', 'wax-2'], default: 'ink' });
      expect(properties).not.toHaveProperty('quality');
      expect(JSON.stringify(tools)).not.toMatch(/clay|secret-film|gpt-image-2/);
      expect(faultOf(await call('generate_image', { model: 'clay', prompt: 'x' }))).toMatchObject(NOT_ALLOWED);
      expect(faultOf(await call('generate_video', { model: 'secret-film', prompt: 'x' }))).toMatchObject(NOT_ALLOWED);
      expect(faultOf(await call('list_models', { model: 'clay' }))).toMatchObject({ code: 'model_not_found' });
      const { structuredContent } = await call('list_models', {});
      expect(structuredContent).toMatchObject({ data: [{ id: 'ink' }, { id: 'wax-2' }] });
      const made = await call('generate_image', { prompt: 'x', wait_s: 60 });
      expect(made.structuredContent).toMatchObject({ model: 'ink', status: 'succeeded' });
    } finally {
      await client.close();
    }
  });
});

it('lets accepted tasks run on, and refuses to make them again', async () => {
  const key = await keyWith({ models: ['clay'] });
  const headers = { 'idempotency-key': 'once' };
  const first = await key.create({ model: 'clay', prompt: 'a fox' }, headers);
  const { body: view } = await service.api.get<Json>('/v1/api_keys?limit=1');
  const { id } = view.data[0];
  const changed = await service.api.call<Json>('PATCH', `/v1/api_keys/${id}`, { models: ['wax*'] });
  expect(changed.body.models).toEqual(['wax*']);
  expect(await key.untilFinal(first.body.task_id)).toMatchObject({ status: 'succeeded' });
  const again = await key.call<ErrorBody>('POST', `/v1/tasks/${first.body.task_id}/retry`, {});
  expect(again).toMatchObject({ status: 403, body: { error: NOT_ALLOWED } });
  const replay = await key.create({ model: 'clay', prompt: 'a fox' }, headers);
  expect(replay).toMatchObject({ status: 201, text: first.text });
  const opened = await service.api.call<Json>('PATCH', `/v1/api_keys/${id}`, { models: null });
  expect(opened.body.models).toBeNull();
  expect((await key.create({ model: 'clay', prompt: 'a fox' })).status).toBe(201);
});

it('refuses to make a task again at every edge', async () => {
  const key = await keyWith({ models: ['clay', 'secret-film'] });
  const { body: view } = await service.api.get<Json>('/v1/api_keys?limit=1');
  const [image, film] = [
    await key.create({ model: 'clay', prompt: 'a fox' }),
    await key.create({ model: 'secret-film', prompt: 'a wave' }),
  ].map(({ body }) => body.task_id);
  for (const id of [image!, film!]) await key.untilFinal(id);
  await service.api.call('PATCH', `/v1/api_keys/${view.data[0].id}`, { models: ['wax*'] });
  const again = await post(key, '/graphql', { query: `mutation { retryTask(taskId: "${image}") { taskId } }` });
  expect(again.errors[0].extensions).toMatchObject(NOT_ALLOWED);
  expect((await post(key, `/v1/videos/${film}/remix`, { prompt: 'x' })).error).toMatchObject(NOT_ALLOWED);
  const client = await mcpClient('modern', new URL('/mcp', service.baseUrl), { key: key.key! });
  try {
    const result = await client.callTool({ name: 'retry_task', arguments: { task_id: image } });
    expect(faultOf(result as CallToolResult)).toMatchObject(NOT_ALLOWED);
  } finally {
    await client.close();
  }
});

describe('a key that names models', () => {
  it.each([
    [{}, 'null'],
    [{ models: null }, 'null'],
    [{ models: ['clay'] }, 'clay'],
    [{ models: ['wax*', 'in*'] }, 'wax*, in*'],
  ])('cannot give %j', async (fields, shown) => {
    const { status, body } = await bounded.call<ErrorBody>('POST', '/v1/api_keys', {
      name: 'x',
      scopes: ALL,
      ...fields,
    });
    expect(status).toBe(403);
    expect(body.error).toMatchObject({ code: 'insufficient_scope', param: 'models' });
    expect(body.error.message).toBe(`This API key may use ink, wax*, so it cannot grant models ${shown}.`);
  });

  it('gives what it has, and its children keep within it when it changes', async () => {
    const parent = await keyWith({ models: ['ink', 'wax*'] });
    const child = await keyWith({ models: ['wax-2', 'ink'] }, parent);
    expect(await idsOf(child)).toEqual(['ink', 'wax-2']);
    const { body } = await service.api.get<Json>('/v1/api_keys?limit=2');
    await service.api.call('PATCH', `/v1/api_keys/${body.data[1].id}`, { models: ['ink'] });
    expect(await idsOf(parent)).toEqual(['ink']);
    const children = await post(service.api, '/graphql', {
      query: '{ apiKeys(first: 1) { edges { node { models } } } }',
    });
    expect(children.data.apiKeys.edges[0].node.models).toEqual(['wax-2', 'ink']);
    const secret = await service.api.call<Json>('POST', `/v1/api_keys/${body.data[0].id}/rotate`, {});
    expect(await idsOf(new Api(service.baseUrl, secret.body.key))).toEqual(['ink']);
  });
});

it.each([
  [[], 'invalid_value', 'models'],
  [['a b'], 'invalid_value', 'models[0]'],
  [['ink', 'ink'], 'invalid_value', 'models'],
  [['ink', 3], 'invalid_type', 'models[1]'],
  ['ink', 'invalid_type', 'models'],
  [Array.from({ length: 101 }, (_, at) => `m${at}`), 'too_many_items', 'models'],
])('refuses models %j', async (models, code, param) => {
  const { body } = await service.api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'x', models });
  expect(body.error).toMatchObject({ code, param });
});

it('is set by the command line too', async () => {
  const created = await darkroom(['keys', 'create', 'cli', '--models', 'ink,wax*', '--json'], service.env);
  const { id, key, models } = JSON.parse(created.out) as Json;
  expect(models).toEqual(['ink', 'wax*']);
  expect(await idsOf(new Api(service.baseUrl, key))).toEqual(['ink', 'wax-2']);
  const updated = await darkroom(['keys', 'update', id, '--models', 'none', '--json'], service.env);
  expect(JSON.parse(updated.out)).toMatchObject({ id, models: null });
});
