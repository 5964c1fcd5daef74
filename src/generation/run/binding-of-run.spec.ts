import { ModelAvailability } from '../../models/model-availability.ts';
import { catalog } from '../../models/catalog.ts';
import type { Model } from '../../models/definition/model.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { ProviderRegistry } from '../../providers/registry.ts';
import type { SandboxProvider } from '../../providers/sandbox/sandbox.provider.ts';
import { UsageTerms } from '../../tasks/record/usage-terms.ts';
import { bindingCalled } from './binding-of-run.ts';

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
