import { prepareRequest } from './prepare-request.ts';
import type { PreparedRequest, Provider, ProviderRequest, ResolvedInput } from './provider.ts';

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

const request = (input: object) => ({ input: { prompt: 'a fox', ...input } }) as ProviderRequest;

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
