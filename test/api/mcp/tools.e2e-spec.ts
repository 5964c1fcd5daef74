import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import sharp from 'sharp';
import { catalog } from '../../../src/models/catalog.ts';
import { type SharedService, joinService } from '../../support/service.ts';
import type { TaskBody } from '../../support/clients/api.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { byName, ERAS, faultOf, mcpClient, taskOf, textOf } from '../../support/clients/mcp.ts';

const TOOLS =
  'generate_image generate_video get_task list_tasks cancel_task retry_task keep_task list_models get_usage'.split(' ');

let service: SharedService;
beforeAll(async () => void (service = await joinService()));
afterAll(() => service.close());

const url = () => new URL('/mcp', service.baseUrl);
const connect = (era: (typeof ERAS)[number], key = service.api.key!) => mcpClient(era, url(), { key });

describe.each(ERAS)('the official client in the %s era', (era) => {
  let client: Client;
  beforeAll(async () => void (client = await connect(era)));
  afterAll(() => client.close());

  const call = (name: string, given: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: given }) as Promise<CallToolResult>;

  it('lists the tools in their order, with flat schemas', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const { inputSchema } of tools) {
      expect(Object.keys(inputSchema)).not.toEqual(expect.arrayContaining(['oneOf']));
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });

  it('gets an image with a link, a preview under the size, and the task as GET shows it', async () => {
    const result = await call('generate_image', { prompt: 'A lighthouse', n: 2, resolution: '2K' });
    const task = taskOf(result);
    expect(task).toMatchObject({ status: 'succeeded', source: 'mcp', model: 'gpt-image-2' });
    const { body } = await service.api.get(`/v1/tasks/${task.task_id}`);
    expect(withoutLinks(task)).toEqual(withoutLinks(body));
    expect(textOf(result)).toContain(task.task_id);

    const links = result.content.filter(({ type }) => type === 'resource_link');
    expect(links).toEqual(
      task.result!.outputs.map((output) => ({
        type: 'resource_link',
        uri: expect.stringContaining(`/v1/files/${output.id}/content?`),
        name: `${output.id}.png`,
        mimeType: 'image/png',
        size: output.size_bytes,
      })),
    );
    const images = result.content.filter((block) => block.type === 'image');
    expect(images).toHaveLength(2);
    for (const { data, mimeType } of images) {
      const bytes = Buffer.from(data, 'base64');
      expect(mimeType).toBe('image/jpeg');
      expect(bytes.length).toBeLessThanOrEqual(150_000);
      const { width, height, format } = await sharp(bytes).metadata();
      expect([format, Math.max(width, height)]).toEqual(['jpeg', 768]);
    }
  });

  it('gets no preview that it does not want', async () => {
    const result = await call('generate_image', { prompt: 'A lighthouse', preview: 'none' });
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
  });

  it('gets the unfinished task after wait_s, and its end with get_task', async () => {
    const first = await call('generate_video', {
      prompt: 'A wave #delay:0.5',
      duration: 1,
      resolution: '720P',
      wait_s: 0,
    });
    const { task_id, status } = taskOf(first);
    expect(['queued', 'running']).toContain(status);
    expect(textOf(first)).toContain('get_task');
    const result = await call('get_task', { task_id, wait_s: 120 });
    expect(taskOf(result)).toMatchObject({ task_id, status: 'succeeded', kind: 'video' });
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'image']);
  });

  it('receives the progress', async () => {
    const seen: object[] = [];
    const params = { name: 'generate_image', arguments: { prompt: 'Slowly #hang' } };
    const call = client.callTool(params, { onprogress: (report) => seen.push(report) });
    await eventually('a report', async () => seen.length > 0);
    await service.api.call('POST', '/v1/tasks/cancel', { filter: { created_after: 0 } });
    expect((await call).isError).toBe(true);
    expect(seen[0]).toEqual({ progress: 0, total: 100, message: expect.any(String) });
  });

  it('lists, cancels and retries', async () => {
    const hanging = taskOf(await call('generate_image', { prompt: '#hang', wait_s: 0 }));
    const cancelled = await call('cancel_task', { task_id: hanging.task_id });
    expect(cancelled.isError).toBeUndefined();
    expect(taskOf(cancelled)).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });

    const retried = await call('retry_task', { task_id: hanging.task_id, prompt: 'A calm sea' });
    expect(taskOf(retried)).toMatchObject({
      status: 'succeeded',
      source: 'mcp',
      parent_task_id: hanging.task_id,
      relation: 'variation',
      input: { prompt: 'A calm sea' },
    });

    const list = await call('list_tasks', { limit: 1, status: 'succeeded' });
    const page = list.structuredContent as unknown as { data: TaskBody[]; has_more: boolean; last_id: string };
    expect(page.data.map(({ task_id }) => task_id)).toEqual([taskOf(retried).task_id]);
    const next = await call('list_tasks', { limit: 1, after: page.last_id });
    expect((next.structuredContent as unknown as typeof page).data[0]!.task_id).toBe(hanging.task_id);
  });

  it('reads the models and the usage', async () => {
    const models = await call('list_models', { kind: 'video' });
    expect((models.structuredContent as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([
      'sora-2',
      'seedance-2',
    ]);
    const usage = await call('get_usage', { days: 1 });
    expect(usage.structuredContent).toMatchObject({ object: 'page', totals: { tasks: expect.any(Number) } });
    expect(textOf(usage)).toContain('gpt-image-2');
  });

  it('reads tasks and files as resources', async () => {
    const task = taskOf(await call('generate_image', { prompt: 'A buoy', preview: 'none' }));
    const [output] = task.result!.outputs;
    const { resources } = await client.listResources();
    const uri = `darkroom://files/${output!.id}`;
    expect(resources[0]).toEqual({ uri, name: `${output!.id}.png`, mimeType: 'image/png', size: output!.size_bytes });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'darkroom://tasks/{task_id}',
      'darkroom://files/{file_id}',
    ]);
    const { contents } = await client.readResource({ uri });
    expect(Buffer.from((contents[0] as { blob: string }).blob, 'base64')).toHaveLength(output!.size_bytes);
    const shown = await client.readResource({ uri: `darkroom://tasks/${task.task_id}` });
    expect(JSON.parse((shown.contents[0] as { text: string }).text)).toMatchObject({ task_id: task.task_id });
    await expect(client.readResource({ uri: 'darkroom://files/file_unknown' })).rejects.toMatchObject({
      data: { code: 'file_not_found', param: 'uri' },
    });
  });

  it('reads no task and no file of another key', async () => {
    const task = taskOf(await call('generate_image', { prompt: 'A buoy', preview: 'none' }));
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: `stranger ${era}` });
    const stranger = await connect(era, body.key);
    for (const [uri, code] of [
      [`darkroom://files/${task.result!.outputs[0]!.id}`, 'file_not_found'],
      [`darkroom://tasks/${task.task_id}`, 'task_not_found'],
    ] as const) {
      await expect(stranger.readResource({ uri })).rejects.toMatchObject({ data: { code } });
    }
    await stranger.close();
  });

  it.each([
    ['generate_image', { prompt: 'x', aspect_ratio: '17:9' }, 'invalid_value', 'aspect_ratio', '16:9'],
    [
      'generate_image',
      { prompt: 'x', quality: 'high', model: 'nano-banana-2' },
      'unsupported_parameter',
      'quality',
      'gpt-image-2',
    ],
    ['generate_image', { prompt: 'x', model: 'sora-2' }, 'invalid_value', 'model', 'nano-banana-pro'],
    ['generate_image', {}, 'missing_required_parameter', 'prompt', 'required'],
    ['generate_image', { prompt: 'x', pixels: '1K' }, 'unknown_parameter', 'pixels', 'resolution'],
    ['generate_image', { prompt: 'x', size: '1K' }, 'invalid_value', 'size', 'multiple of 16'],
    ['generate_image', { prompt: 'x', wait_s: 301 }, 'value_out_of_range', 'wait_s', '0 to 300'],
    ['generate_video', { prompt: 'x', preview: 'none' }, 'unknown_parameter', 'preview', 'duration'],
    ['get_task', {}, 'missing_required_parameter', 'task_id', 'required'],
    ['get_task', { task_id: 'task_unknown' }, 'task_not_found', 'task_id', 'No task of yours'],
    ['get_task', { task_id: 7 }, 'invalid_type', 'task_id', 'string'],
    ['list_tasks', { status: 'done' }, 'invalid_value', 'status', 'succeeded'],
    ['list_tasks', { limit: 51 }, 'value_out_of_range', 'limit', '1 to 50'],
    ['list_tasks', { after: 'x' }, 'invalid_value', 'after', 'task'],
    ['list_models', { kind: 'sound' }, 'invalid_value', 'kind', 'video'],
  ])('is told by %s of the fault in %j', async (name, given, code, param, allowed) => {
    const result = await call(name, given);
    expect(result.isError).toBe(true);
    expect(faultOf(result)).toMatchObject({ code, param, message: expect.stringContaining(allowed) });
  });

  it('gets a failed generation as an error with the task', async () => {
    const result = await call('generate_image', { prompt: '#fail:content_policy_violation' });
    expect(result.isError).toBe(true);
    expect(taskOf(result)).toMatchObject({ status: 'failed', error: { code: 'content_policy_violation' } });
    expect(textOf(result)).toContain('content_policy_violation');
  });

  it('lacks a scope as in REST, told as an error of the tool', async () => {
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: `reader ${era}`,
      scopes: ['tasks:read'],
    });
    const reader = await connect(era, body.key);
    const refused = (await reader.callTool({ name: 'generate_image', arguments: { prompt: 'x' } })) as CallToolResult;
    expect(faultOf(refused)).toMatchObject({ code: 'insufficient_scope' });
    const listed = (await reader.callTool({ name: 'list_tasks', arguments: {} })) as CallToolResult;
    expect(listed.structuredContent).toMatchObject({ data: [] }); // tasks of another key
    await reader.close();
  });
});

describe('the schemas of the tools', () => {
  const KEPT_FROM_AGENTS = ['model', 'output_compression', 'metadata', 'priority', 'parent_task_id'];

  it('have every parameter of every model, and the union of its values', async () => {
    const client = await connect('modern');
    const { tools } = await client.listTools();
    await client.close();
    for (const { kind, parameters } of catalog.models) {
      const { properties } = byName(tools, `generate_${kind}`).inputSchema as { properties: Record<string, any> };
      for (const [name, schema] of Object.entries(parameters.properties)) {
        if (KEPT_FROM_AGENTS.includes(name)) continue;
        expect(properties[name]).toMatchObject({ type: schema.type, description: expect.stringMatching(/.{10}/) });
        for (const value of schema.enum ?? []) expect(properties[name].enum).toContain(value);
        if (schema.maximum !== undefined) expect(properties[name].maximum).toBeGreaterThanOrEqual(schema.maximum);
        if (schema.minimum !== undefined) expect(properties[name].minimum).toBeLessThanOrEqual(schema.minimum);
      }
    }
    const { resolution, quality } = (byName(tools, 'generate_image').inputSchema as any).properties;
    expect(resolution.description).toMatch(/gpt-image-2: 1K 2K 4K, default 1K; nano-banana-2, nano-banana-pro: 2K 4K/);
    expect(quality.description).toMatch(/Only gpt-image-2/);
  });

  it('describe a task as the OpenAPI file does', async () => {
    const client = await connect('modern');
    const { tools } = await client.listTools();
    await client.close();
    const output = byName(tools, 'generate_image').outputSchema as { properties: object; required: string[] };
    const { body } = await service.api.get<any>('/openapi.json');
    const { SucceededTask, FailedTask, QueuedTask, TaskOutput } = body.components.schemas;
    const described = { ...FailedTask.properties, ...SucceededTask.properties };
    expect(Object.keys(output.properties).sort()).toEqual(Object.keys(described).sort());
    expect(output.required.sort()).toEqual(QueuedTask.required.sort());
    expect(output.properties).toMatchObject({
      status: { type: 'string', enum: ['queued', 'running', 'succeeded', 'failed'] },
      progress: described.progress,
      parent_task_id: {
        description: described.parent_task_id.description,
        anyOf: [{ type: 'string' }, { type: 'null' }],
      },
      relation: { anyOf: [{ type: 'string', enum: ['retry', 'variation', 'remix'] }, { type: 'null' }] },
      result: { properties: { outputs: { type: 'array', items: { required: TaskOutput.required } } } },
    });
    expect(JSON.stringify(output)).not.toMatch(/\$ref|"x-/);
    // The words are there once: the list is sent to the agent as a whole.
    const again = byName(tools, 'get_task').outputSchema as { properties: object };
    expect(Object.keys(again.properties)).toEqual(Object.keys(output.properties));
    expect(JSON.stringify(again)).not.toContain('"description":"');
  });
});

describe('rates', () => {
  it('count a creation as a create and all else as a read', async () => {
    const { body } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', {
      name: 'slow',
      limits: { creates_per_minute: 1, reads_per_minute: 4 },
    });
    // The minutes of this key end in an hour.
    await queryOnce(
      service.database.url,
      `insert into rate_windows (api_key_id, bucket, ends_at, taken)
       select $1, bucket, now() + interval '1 hour', 0 from unnest(array['create', 'read']) bucket`,
      [body.id],
    );
    const slow = await connect('legacy', body.key); // initialize and initialized: two reads
    const create = () =>
      slow.callTool({ name: 'generate_image', arguments: { prompt: 'x', wait_s: 0 } }) as Promise<CallToolResult>;
    expect((await create()).isError).toBeUndefined();
    expect(faultOf(await create())).toMatchObject({ code: 'rate_limit_exceeded' });
    await slow.listTools();
    await slow.callTool({ name: 'list_models', arguments: {} });
    const refused = (await slow.callTool({ name: 'list_models', arguments: {} })) as CallToolResult;
    expect(faultOf(refused)).toMatchObject({ code: 'rate_limit_exceeded' });
    await expect(slow.listTools({}, { cacheMode: 'refresh' } as never)).rejects.toThrow(/429|rate_limit/);
    await slow.close();
  });
});

/** Links are signed anew at each read. */
function withoutLinks(task: TaskBody): unknown {
  return JSON.parse(
    JSON.stringify(task, (name, value: unknown) => (/^url(_expires_at)?$/.test(name) ? undefined : value)),
  );
}
