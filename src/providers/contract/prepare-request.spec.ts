import { prepareRequest, requestedSize } from './prepare-request.ts';
import type { PreparedRequest, Provider, ProviderRequest, ResolvedInput } from './provider.ts';
import { inputImage, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { findModel } from '../../models/catalog.ts';

const gptImage2 = findModel('gpt-image-2')!;

const prepared: PreparedRequest = {
  approximations: [{ param: 'duration', requested: 5, used: 4 }],
  generate: async () => [],
};

function provider(...takes: (keyof ResolvedInput)[]) {
  let seen: ResolvedInput | null = null;
  const adapter: Provider = {
    name: 'stub',
    takes: ['prompt', ...takes],
    prepare: ({ input }) => {
      seen = input;
      return prepared;
    },
  };
  return { adapter, seen: () => seen };
}

const request = (input: object) => ({ input: { prompt: 'a fox', ...input }, upstream: {} }) as ProviderRequest;

describe('the preparation of a request', () => {
  it('keeps the file format from the adapter: the worker converts', () => {
    const { adapter, seen } = provider();
    const given = request({ output_format: 'webp', output_compression: 80 });
    expect(prepareRequest(adapter, given)).toBe(prepared);
    expect(seen()).toEqual({ prompt: 'a fox' });
    expect(given.input.output_format).toBe('webp');
  });

  it('passes quality to an adapter that takes it', () => {
    const { adapter, seen } = provider('quality');
    expect(prepareRequest(adapter, request({ quality: 'high' }))).toBe(prepared);
    expect(seen()).toEqual({ prompt: 'a fox', quality: 'high' });
  });

  it('records quality as auto where the adapter does not take it', () => {
    const { adapter, seen } = provider();
    expect(prepareRequest(adapter, request({ quality: 'high' })).approximations).toEqual([
      { param: 'duration', requested: 5, used: 4 },
      { param: 'quality', requested: 'high', used: 'auto' },
    ]);
    expect(seen()).toEqual({ prompt: 'a fox' });
    expect(prepareRequest(adapter, request({ quality: 'auto' })).approximations).toEqual(prepared.approximations);
  });
});

const aCat: ProviderRequest = {
  taskId: 'task_01',
  model: 'nano-banana-2',
  kind: 'image',
  input: { prompt: 'a cat', aspect_ratio: 'auto', resolution: '2K', n: 1 },
  images: { references: [], firstFrame: null },
  upstream: { model: '', baseUrl: '', apiKey: null, durationPolicy: 'exact', pollIntervalMs: null },
};

describe('a declared binding', () => {
  const definition = { sizes: {}, parameters: gptImage2.parameters, workflows: new Map() };
  const declared = (binding: object, input: object) =>
    ({
      ...request(input),
      definition,
      upstream: { ...aCat.upstream, declared: { provider: 'openai', ...binding } },
    }) as ProviderRequest;
  const unfit = (binding: object, input: object) => {
    const { adapter } = provider('quality', 'n', 'reference_images');
    return () => prepareRequest(adapter, declared(binding, input));
  };

  it.each([
    [{ n: [1, 2] }, { n: 3 }, 'n'],
    [{ reference_images: 'absent' }, { reference_images: ['a'] }, 'reference_images'],
    [{ reference_images: 'present' }, {}, 'reference_images'],
    [{ reference_images: 'present' }, { reference_images: [] }, 'reference_images'],
  ])('with the condition %j is passed over for %j', (when, input, param) => {
    expect(unfit({ when }, input)).toThrow(expect.objectContaining({ name: 'UnsupportedRequest', param }));
  });

  it.each([
    [{ n: [1, 2] }, { n: 2 }],
    [{ n: [1, 2] }, {}],
    [{ reference_images: 'absent' }, { reference_images: [] }],
    [{ reference_images: 'present' }, { reference_images: ['a'] }],
  ])('with the condition %j takes %j', (when, input) => {
    expect(unfit({ when }, input)).not.toThrow();
  });

  it('records what it does without, and nothing of a default', () => {
    const { adapter, seen } = provider('n');
    const prepare = (input: object) =>
      prepareRequest(adapter, declared({ approximate: ['quality', 'reference_images'] }, input)).approximations.slice(
        1,
      );
    expect(prepare({ quality: 'high', reference_images: ['a', 'b'] })).toEqual([
      { param: 'quality', requested: 'high', used: 'auto' },
      { param: 'reference_images', requested: '2', used: 'none' },
    ]);
    expect(prepare({ quality: 'auto' })).toEqual([]);
    expect(seen()).toEqual({ prompt: 'a fox' });
  });

  it('sends what its template names', () => {
    const { adapter, seen } = provider();
    prepareRequest(adapter, declared({ send: { steps: '{{x_steps}}' } }, { x_steps: 20 }));
    expect(seen()).toEqual({ prompt: 'a fox', x_steps: 20 });
    expect(() => prepareRequest(adapter, declared({}, { x_steps: 20 }))).toThrow(
      expect.objectContaining({ param: 'x_steps' }),
    );
  });
});

it('is the exact size of a request that names one, if the upstream takes it', () => {
  const exact = requestFor(aCat, { input: { size: '1024x768' } });
  expect(requestedSize(exact)).toEqual({ ratio: '1024x768', size: { width: 1024, height: 768 } });
  expect(() => requestedSize(exact, { accepts: () => false })).toThrow(expect.objectContaining({ param: 'size' }));
});

it("is the model's own size, nearest to the first reference image", async () => {
  const references = [await inputImage(160, 90), await inputImage(90, 160)];
  const request = requestFor(aCat, { images: { references, firstFrame: null } });
  expect(requestedSize(request)).toEqual({ ratio: '16:9', size: { width: 2752, height: 1536 } });
});

it("is that of the upstream's model where it makes other sizes", () => {
  const { size } = requestedSize(aCat, { sizes: gptImage2.sizes });
  expect(size).toEqual({ width: 2048, height: 2048 });
});

it.each([
  ['a ratio', { aspect_ratio: '5:4' }, 'aspect_ratio'],
  ['a resolution', { aspect_ratio: '1:1', resolution: '1K' }, 'resolution'],
  ['a resolution of auto', { resolution: '1K' }, 'resolution'],
])('refuses %s that the model has no size for', (_what, input, param) => {
  expect(() => requestedSize(requestFor(aCat, { input }))).toThrow(
    expect.objectContaining({ name: 'UnsupportedRequest', param }),
  );
});

it('refuses a size that the upstream does not take', () => {
  expect(() => requestedSize(aCat, { accepts: () => false })).toThrow(
    expect.objectContaining({ name: 'UnsupportedRequest', param: 'resolution' }),
  );
});
