import { ModelAvailability } from '../../models/model-availability.ts';
import { catalog } from '../../models/catalog.ts';
import type { Model } from '../../models/definition/model.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { ProviderRegistry } from '../../providers/registry.ts';
import type { SandboxProvider } from '../../providers/sandbox/sandbox.provider.ts';
import { UsageTerms } from '../../tasks/record/usage-terms.ts';
import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import { bindingCalled, EvenLoad } from './run-bindings.ts';

const config = loadConfig({});
const registry = new ProviderRegistry(config, {} as SandboxProvider, new ModelAvailability(), new UsageTerms(config));
const binding = { provider: 'openai', model: 'flux', base_url: 'http://127.0.0.1:9001/v1', credential: null } as const;
const declared: Model = { ...catalog.models[0]!, id: 'own', declared: true, choose: 'in_order', bindings: [binding] };
const task = {
  provider: 'openai',
  credential: null,
  provider_url: 'http://127.0.0.1:9001/v1',
  provider_model: 'flux-1',
};

describe('a task that was called before', () => {
  it('goes on with the upstream model that was called', () => {
    const called = bindingCalled(registry, declared, task)!;
    expect([called.upstream.baseUrl, called.upstream.model, called.upstream.apiKey]).toEqual([
      'http://127.0.0.1:9001/v1',
      'flux-1',
      null,
    ]);
  });

  it('goes on at the address that was called, when the declaration has got another one', () => {
    const before = { ...task, provider_url: 'http://127.0.0.1:9000/v1' };
    const called = bindingCalled(registry, declared, before)!;
    expect([called.upstream.baseUrl, called.upstream.model]).toEqual(['http://127.0.0.1:9000/v1', 'flux-1']);
    expect(called.endpoint).toContain('9000');
    expect(called.circuit).not.toBe(bindingCalled(registry, declared, task)!.circuit);
  });

  it('is gone with its credential, and at another address where no file declares it', () => {
    expect(bindingCalled(registry, declared, { ...task, credential: 'OTHER_KEY' })).toBeUndefined();
    const builtIn = { ...declared, declared: false };
    expect(bindingCalled(registry, builtIn, { ...task, provider_url: 'http://127.0.0.1:9000/v1' })).toBeUndefined();
  });
});

type Bindings = Parameters<EvenLoad['inOrder']>[0];

const gpus: DeclaredBinding = { provider: 'openai', model: 'm' };
const bindingAt = (endpoint: string, declared?: DeclaredBinding, isOpen = false) =>
  ({
    name: 'openai',
    endpoint,
    circuit: { isOpen },
    upstream: { declared, baseUrl: endpoint },
  }) as unknown as Bindings[number];
const counts =
  (tasks: Record<string, number> = {}) =>
  async () =>
    new Map(Object.entries(tasks));
const idsOf = async (load: EvenLoad, bindings: Bindings, count: Parameters<EvenLoad['inOrder']>[1] = counts()) =>
  (await load.inOrder(bindings, count)).map(({ endpoint }) => endpoint);

const BINDINGS = [bindingAt('gpu1', gpus), bindingAt('gpu2', gpus), bindingAt('vendor')];

describe('addresses of one model', () => {
  it('begins with the address that has the fewest tasks, of equals with the first', async () => {
    const load = new EvenLoad();
    expect(await idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']);
    await load.at('gpu1', async () => {
      expect(await idsOf(load, BINDINGS)).toEqual(['gpu2', 'gpu1', 'vendor']);
      await load.at('gpu2', async () => expect(await idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']));
    });
    await expect(load.at('gpu1', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']);
  });

  it('counts the tasks of other processes too', async () => {
    const load = new EvenLoad();
    expect(await idsOf(load, BINDINGS, counts({ gpu1: 2, gpu2: 1 }))).toEqual(['gpu2', 'gpu1', 'vendor']);
    await load.at('gpu2', async () =>
      expect(await idsOf(load, BINDINGS, counts({ gpu1: 1 }))).toEqual(['gpu1', 'gpu2', 'vendor']),
    );
  });

  it('asks for no count where each binding has one address', async () => {
    const count = () => Promise.reject(new Error('counted'));
    expect(await idsOf(new EvenLoad(), [BINDINGS[0]!, BINDINGS[2]!], count)).toEqual(['gpu1', 'vendor']);
  });

  it('leaves an address whose circuit is open for the end, but before the next binding', async () => {
    const bindings = [bindingAt('gpu1', gpus, true), bindingAt('gpu2', gpus), bindingAt('vendor')];
    expect(await idsOf(new EvenLoad(), bindings)).toEqual(['gpu2', 'gpu1', 'vendor']);
  });

  it('keeps the order of bindings that are not of one declaration', async () => {
    const load = new EvenLoad();
    await load.at('first', async () =>
      expect(await idsOf(load, [bindingAt('first'), bindingAt('second')])).toEqual(['first', 'second']),
    );
  });
});
