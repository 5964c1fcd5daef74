import { ApiError } from '../errors/api-error.ts';
import { catalog } from './catalog.ts';
import { ModelAvailability } from './model-availability.ts';
import { ModelHealth, type ModelLoad } from './model-health.ts';
import { ModelPricing } from './model-pricing.ts';
import { ModelsService } from './models.service.ts';

const serviceOf = (availability = new ModelAvailability(), health = new ModelHealth(), pricing = new ModelPricing()) =>
  new ModelsService(availability, health, pricing);

describe('the public catalogue', () => {
  it('lists every model as available until a source is registered', async () => {
    const service = serviceOf();
    const list = JSON.parse(String(await service.listJson({})));
    expect(list.object).toBe('list');
    expect(list.data).toEqual(await service.list({}));
    expect(list.data.map((model: { id: string }) => model.id)).toEqual(catalog.models.map(({ id }) => id));
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
      health: { status: 'operational', success_rate: null },
      pricing: null,
    });
  });

  it('shows the built-in models to the letter', async () => {
    expect(JSON.stringify(await serviceOf().list({}), null, 1)).toMatchSnapshot();
  });

  it('follows the availability of the providers', async () => {
    const availability = new ModelAvailability();
    const service = serviceOf(availability);
    const down = new Set(['sora-2']);
    expect(String(await service.listJson({}))).not.toContain('"available":false');
    availability.register(
      (id) => !down.has(id),
      (id) => id === 'sora-2',
    );
    expect((await service.list({})).filter(({ sandbox }) => sandbox).map(({ id }) => id)).toEqual(['sora-2']);
    const available = async () =>
      JSON.parse(String(await service.listJson({}))).data.filter((model: { available: boolean }) => model.available);
    expect(await available()).toHaveLength(4);
    expect(await service.find({}, 'sora-2')).toMatchObject({ available: false, health: { status: 'unavailable' } });
    down.clear();
    expect(await available()).toHaveLength(5);
    expect(() => availability.register(() => true)).toThrow();
  });

  const LOAD: ModelLoad = {
    queued: 3,
    running: 2,
    median_run_s: 1.5,
    succeeded: 0,
    failed: 0,
    typical: null,
    sampled_at: 1,
  };
  it.each([
    ['operational', { succeeded: 18, failed: 2 }, 0.9],
    ['degraded', { succeeded: 17, failed: 3 }, 0.85],
    ['operational', { succeeded: 1, failed: 18 }, 1 / 19],
    ['operational', { succeeded: 0, failed: 0 }, null],
  ])('is %s after %j', async (status, ends, success_rate) => {
    const health = new ModelHealth();
    health.registerLoad(async () => ({ ...LOAD, ...ends }));
    const expected = { status, queued: 3, running: 2, median_run_s: 1.5, success_rate, sampled_at: 1 };
    expect((await serviceOf(new ModelAvailability(), health).find({}, 'sora-2')).health).toEqual(expected);
  });

  it('is degraded while calls to a provider are suspended', async () => {
    const health = new ModelHealth();
    health.registerTrouble((id) => id === 'sora-2');
    const list = await serviceOf(new ModelAvailability(), health).list({});
    expect(list.filter((model) => model.health.status === 'degraded').map(({ id }) => id)).toEqual(['sora-2']);
  });

  it('shows the prices that are registered', async () => {
    const pricing = new ModelPricing();
    const prices = { currency: 'EUR', rows: [{ unit: 'image' as const, amount_micros: 40_000 }] };
    pricing.register((id) => (id === 'gpt-image-2' ? prices : null));
    const list = JSON.parse(String(await serviceOf(new ModelAvailability(), new ModelHealth(), pricing).listJson({})));
    expect(list.data.map((model: { pricing: object }) => model.pricing)).toEqual([prices, null, null, null, null]);
  });

  it.each(['', 'dall-e', 'GPT-IMAGE-2', 'constructor'])('does not find %j', async (id) => {
    const found = serviceOf().find({}, id);
    await expect(found).rejects.toThrow(ApiError);
    await expect(found).rejects.toMatchObject({ code: 'model_not_found', status: 404 });
  });
});
