import request from 'supertest';
import { catalog } from '../../src/models/catalog.ts';
import { joinService, type SharedService } from '../support/service.ts';

describe('GET /v1/models', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  const get = (path: string) => request(service.baseUrl).get(path).set('authorization', `Bearer ${service.api.key}`);

  it('lists every model with its owner, kind, schema and availability', async () => {
    const { body } = await get('/v1/models').expect(200).expect('content-type', /json/);
    expect(body.object).toBe('list');
    expect(body.data.map(({ id, owned_by }: { id: string; owned_by: string }) => [id, owned_by])).toEqual([
      ['gpt-image-2', 'openai'],
      ['nano-banana-2', 'google'],
      ['nano-banana-pro', 'google'],
      ['sora-2', 'openai'],
      ['seedance-2', 'bytedance'],
    ]);
    for (const model of body.data) {
      expect(model).toMatchObject({ object: 'model', available: true, lifecycle: { status: 'active' } });
      expect(model.parameters.properties.prompt).toBeDefined();
    }
  });

  it.each(catalog.models.map(({ id }) => id))('returns %s as in the list', async (id) => {
    const [{ body: list }, { body: one }] = [await get('/v1/models'), await get(`/v1/models/${id}`).expect(200)];
    expect(list.data).toContainEqual(one);
  });

  it('answers 404 model_not_found for any other, and 401 without a key', async () => {
    const { body } = await get('/v1/models/dall-e-2').expect(404);
    expect(body.error).toMatchObject({ code: 'model_not_found', type: 'not_found_error' });
    await request(service.baseUrl).get('/v1/models').expect(401).expect('www-authenticate', 'Bearer');
  });
});
