import { ApiError } from '../errors/api-error.ts';
import { MODELS } from './catalog.ts';
import { ModelAvailability } from './model-availability.ts';
import { ModelsService } from './models.service.ts';

describe('the public catalogue', () => {
  it('lists every model as available until a source is registered', () => {
    const service = new ModelsService(new ModelAvailability());
    const list = JSON.parse(service.listJson());
    expect(list.object).toBe('list');
    expect(list.data).toEqual(service.list());
    expect(list.data.map((model: { id: string }) => model.id)).toEqual(MODELS.map(({ id }) => id));
    expect(list.data[0]).toMatchObject({
      id: 'gpt-image-2',
      object: 'model',
      owned_by: 'openai',
      kind: 'image',
      created: expect.any(Number),
      description: expect.any(String),
      parameters: { type: 'object', properties: { resolution: { enum: ['1K', '2K', '4K'], default: '1K' } } },
      available: true,
      lifecycle: { status: 'active', sunset_at: null, replacement: null },
    });
  });

  it('follows the availability of the providers', () => {
    const availability = new ModelAvailability();
    const service = new ModelsService(availability);
    const down = new Set(['sora-2']);
    expect(service.listJson()).not.toContain('"available":false');
    availability.register((id) => !down.has(id));
    const available = () =>
      JSON.parse(service.listJson()).data.filter((model: { available: boolean }) => model.available);
    expect(available()).toHaveLength(4);
    expect(service.find('sora-2').available).toBe(false);
    down.clear();
    expect(available()).toHaveLength(5);
    expect(() => availability.register(() => true)).toThrow();
  });

  it.each(['', 'dall-e', 'GPT-IMAGE-2', 'constructor'])('does not find %j', (id) => {
    const find = () => new ModelsService(new ModelAvailability()).find(id);
    expect(find).toThrow(ApiError);
    expect(find).toThrow(expect.objectContaining({ code: 'model_not_found', status: 404 }));
  });
});
