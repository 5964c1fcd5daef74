import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { type ErrorBody, type TaskBody, Api, aCat } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';

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
    const { body } = await service.api.create({ model: 'seedance-2', prompt: 'A river', duration: 4 });
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
