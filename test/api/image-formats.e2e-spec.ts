import sharp from 'sharp';
import { catalog } from '../../src/models/catalog.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { aCat, type ErrorBody, type TaskBody, Api } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const IMAGE_MODELS = catalog.models.filter(({ kind }) => kind === 'image').map(({ id }) => id);

describe('quality, output_format and output_compression', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  const made = async (input: object) => {
    const { status, body } = await service.api.create({ ...aCat, ...input }, { prefer: 'wait=60' });
    expect([status, body.status]).toEqual([201, 'succeeded']);
    const files = await Promise.all(
      body.result!.outputs.map(async ({ url }) => {
        const reply = await fetch(url);
        return { type: reply.headers.get('content-type'), bytes: Buffer.from(await reply.arrayBuffer()) };
      }),
    );
    return { body, files };
  };

  it.each([
    ['png', 'png'],
    ['jpeg', 'jpg'],
    ['webp', 'webp'],
  ])('the stored file is a %s', async (format, extension) => {
    const { body, files } = await made({ output_format: format, n: 2 });
    for (const [at, { type, bytes }] of files.entries()) {
      const output = body.result!.outputs[at]!;
      expect(type).toBe(`image/${format}`);
      const { format: real, width, height } = await sharp(bytes).metadata();
      expect({ real, width, height }).toEqual({ real: format, width: 1024, height: 1024 });
      expect(output).toMatchObject({ content_type: `image/${format}`, width: 1024, size_bytes: bytes.length });
      const reply = await fetch(output.url, { method: 'HEAD' });
      expect(reply.headers.get('content-disposition')).toContain(`.${extension}"`);
      expect(reply.headers.get('etag')).toBe(`"${output.sha256}"`);
    }
  });

  it('a lower compression makes a smaller file; the input shows what was asked and the defaults', async () => {
    const best = await made({ output_format: 'jpeg' });
    const small = await made({ output_format: 'jpeg', output_compression: 30 });
    expect(best.body.input).toMatchObject({ quality: 'auto', output_format: 'jpeg', output_compression: 100 });
    expect(small.body.input).toMatchObject({ output_format: 'jpeg', output_compression: 30 });
    expect(small.files[0]!.bytes.length).toBeLessThan(best.files[0]!.bytes.length / 2);
  });

  it('are absent from the input when left out, but for the quality of gpt-image-2', async () => {
    for (const model of IMAGE_MODELS) {
      const { body } = await service.api.create({ model, prompt: '#fail:internal_error' });
      expect(body.input).not.toHaveProperty('output_format');
      expect(body.input).not.toHaveProperty('output_compression');
      const { quality } = body.input as { quality?: string };
      expect(quality).toBe(model === 'gpt-image-2' ? 'auto' : undefined);
    }
    const png = await service.api.create({ ...aCat, prompt: '#fail:internal_error', output_format: 'png' });
    expect(png.body.input).not.toHaveProperty('output_compression');
  });

  it('the sandbox has no quality: the task records that', async () => {
    const { body } = await made({ quality: 'high' });
    expect(body.approximations).toEqual([{ param: 'quality', requested: 'high', used: 'auto' }]);
    expect((await made({ quality: 'auto' })).body).not.toHaveProperty('approximations');
  });

  const refused: [name: string, fields: object, code: string, param: string][] = [
    ['compression alone', { output_compression: 80 }, 'unsupported_parameter', 'output_compression'],
    [
      'compression of PNG',
      { output_format: 'png', output_compression: 80 },
      'unsupported_parameter',
      'output_compression',
    ],
    ['another format', { output_format: 'gif' }, 'invalid_value', 'output_format'],
    ['a format in capitals', { output_format: 'PNG' }, 'invalid_value', 'output_format'],
    ['101 percent', { output_format: 'webp', output_compression: 101 }, 'value_out_of_range', 'output_compression'],
    ['-1 percent', { output_format: 'webp', output_compression: -1 }, 'value_out_of_range', 'output_compression'],
    ['a text', { output_format: 'webp', output_compression: '80' }, 'invalid_type', 'output_compression'],
    ['a fraction', { output_format: 'webp', output_compression: 80.5 }, 'invalid_type', 'output_compression'],
    ['another quality', { quality: 'hd' }, 'invalid_value', 'quality'],
    ['null', { output_format: null }, 'invalid_type', 'output_format'],
    ['quality of nano-banana-2', { model: 'nano-banana-2', quality: 'low' }, 'unsupported_parameter', 'quality'],
    ['a film in webp', { model: 'sora-2', output_format: 'webp' }, 'unsupported_parameter', 'output_format'],
  ];
  it.each(refused)('%s is refused', async (_name, fields, code, param) => {
    const { status, body } = await service.api.create<ErrorBody>({ ...aCat, ...fields });
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });

  it('are fields of GraphQL too', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const create = 'mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { input } }';
    const given = { quality: 'low', outputFormat: 'webp', outputCompression: 75 };
    const { data } = await graphql.ask(create, { input: { ...aCat, prompt: '#fail:internal_error', ...given } });
    const input = { quality: 'low', output_format: 'webp', output_compression: 75 };
    expect(data).toMatchObject({ createGeneration: { input } });
    const { errors } = await graphql.ask(create, { input: { ...aCat, outputCompression: 75 } });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'unsupported_parameter', param: 'output_compression' });
  });
});

interface Preview {
  url: string;
  urlExpiresAt: number;
  width: number;
  height: number;
}

interface PreviewsBody {
  task: { cover: Preview | null; result: { outputs: { preview: Preview | null }[] } };
}

describe('previews of outputs', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  let picture: TaskBody;

  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { body } = await service.api.create({ ...aCat, aspect_ratio: '3:2' });
    picture = await service.api.untilFinal(body.task_id);
  });
  afterAll(() => service.close());

  const previewsOf = async (taskId: string, width = 512) =>
    (
      await graphql.ask<PreviewsBody>(
        `{ task(taskId: "${taskId}") { cover { url urlExpiresAt width height } result { outputs { preview(width: ${width}) { url urlExpiresAt width height } } } } }`,
      )
    ).data.task;
  const stored = (taskId: string) => readdirSync(join(service.env.DATA_DIR!, 'files', taskId));
  const read = async (url: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(url, { headers });
    return { status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
  };

  it('are WebP stills of the promised size, made when first read and kept', async () => {
    const { cover, result } = await previewsOf(picture.task_id);
    expect(stored(picture.task_id).filter((name) => name.startsWith('preview'))).toEqual([]); // links make nothing
    for (const [preview, width] of [
      [cover!, 256],
      [result.outputs[0]!.preview!, 512],
    ] as const) {
      const { status, headers, bytes } = await read(preview.url);
      expect([status, headers.get('content-type')]).toEqual([200, 'image/webp']);
      expect(await sharp(bytes).metadata()).toMatchObject({
        format: 'webp',
        width: preview.width,
        height: preview.height,
      });
      expect(Math.max(preview.width, preview.height)).toBe(width);
      expect(preview.width / preview.height).toBeCloseTo(1.5, 1);
      expect(stored(picture.task_id)).toContain(`preview-0-${width}.webp`);
      expect((await read(preview.url)).bytes.equals(bytes)).toBe(true);
      const etag = headers.get('etag')!;
      expect((await read(preview.url, { 'if-none-match': etag })).status).toBe(304);
      expect(headers.get('cache-control')).toMatch(/^private, max-age=\d+$/);
    }
  });

  it('are the same for many that ask at once', async () => {
    const { result } = await previewsOf(picture.task_id, 1024);
    const { url } = result.outputs[0]!.preview!;
    const answers = await Promise.all(Array.from({ length: 12 }, () => read(url)));
    expect(new Set(answers.map(({ status, bytes }) => `${status} ${bytes.length}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
  });

  it('need their own signature or the key of their owner', async () => {
    const { url } = (await previewsOf(picture.task_id)).cover!;
    const id = picture.result!.outputs[0]!.id;
    const content = new URL(picture.result!.outputs[0]!.url);
    for (const wrong of [
      url.replace('width=256', 'width=512'),
      url.replace('/preview?', '/content?'),
      `${service.baseUrl}/v1/files/${id}/preview${content.search}&width=256`,
      url.replace(/expires=\d+/, 'expires=4000000000'),
      `${service.baseUrl}/v1/files/${id}/preview?width=256`,
    ]) {
      expect([wrong, (await read(wrong)).status]).toEqual([wrong, 403]);
    }
    const path = `/v1/files/${id}/preview?width=256`;
    expect((await service.api.get(path)).status).toBe(200);
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    const foreign = await new Api(service.baseUrl, other.body.key).get<ErrorBody>(path);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'file_not_found']);
  });

  it.each([['300'], ['0'], [''], ['256.0'], ['1e3']])('refuse the width %j', async (width) => {
    const id = picture.result!.outputs[0]!.id;
    const { status, body } = await service.api.get<ErrorBody>(`/v1/files/${id}/preview?width=${width}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'width']);
  });

  it('refuse another width in GraphQL', async () => {
    const { errors } = await graphql.ask(`{ task(taskId: "${picture.task_id}") { cover(width: 300) { url } } }`);
    expect(errors?.[0]?.extensions.code).toBe('invalid_value');
  });

  it('of films are made from their still', async () => {
    const { body } = await service.api.create({ model: 'sora-2', prompt: 'A river', resolution: '720P', duration: 1 });
    await service.api.untilFinal(body.task_id);
    const { url, width, height } = (await previewsOf(body.task_id)).cover!;
    const { status, bytes } = await read(url);
    expect(status).toBe(200);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width, height });
  });

  it('go with their output', async () => {
    const { body } = await service.api.create(aCat);
    const task = await service.api.untilFinal(body.task_id);
    const { url } = (await previewsOf(task.task_id)).cover!;
    await read(url);
    await service.api.call('DELETE', `/v1/files/${task.result!.outputs[0]!.id}`);
    expect((await read(url)).status).toBe(410);
    expect(await previewsOf(task.task_id)).toEqual({ cover: null, result: { outputs: [{ preview: null }] } });
    expect(stored(task.task_id)).toEqual([]);
  });

  it('are null before there is an output', async () => {
    const { body } = await service.api.create({ ...aCat, prompt: '#hang' });
    const { data } = await graphql.ask<PreviewsBody>(`{ task(taskId: "${body.task_id}") { cover { url } } }`);
    expect(data.task.cover).toBeNull();
    await service.api.cancel(body.task_id);
  });
});
