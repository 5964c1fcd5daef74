import sharp from 'sharp';
import { MODELS } from '../../src/models/catalog.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { aCat, type ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';

const IMAGE_MODELS = MODELS.filter(({ kind }) => kind === 'image').map(({ id }) => id);

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
