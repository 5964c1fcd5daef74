import { catalog } from '../models/catalog.ts';
import { readOpened } from '../models/declaration/read-models.ts';
import { YamlFile } from '../models/declaration/yaml-file.ts';
import { ModelAvailability } from '../models/model-availability.ts';
import { loadConfig } from '../platform/config/config.ts';
import { UsageTerms } from '../tasks/record/usage-terms.ts';
import { ProviderRegistry } from './registry.ts';
import type { SandboxProvider } from './sandbox/sandbox.provider.ts';

const config = loadConfig({});
const registry = new ProviderRegistry(config, {} as SandboxProvider, new ModelAvailability(), new UsageTerms(config));

function declare(...addresses: string[]) {
  const models = addresses.map((address, at) => {
    const yaml = `id: m${at}
kind: image
description: x
parameters: { prompt: {} }
sizes: { table: { columns: [1K], rows: { '1:1': [1024x1024] } } }
bindings: [{ provider: openai, base_url: '${address}', model: m, credential: null }]`;
    return readOpened(new YamlFile('m.yaml', Buffer.from(yaml)), { declared: true, createdAt: 0 })!;
  });
  catalog.declare(models);
  return models.map((model) => registry.bindingsOf(model)[0]!.circuit);
}
afterAll(() => catalog.declare([]));

it('keeps the circuit of an address as long as a binding leads there', () => {
  const [one, two] = declare('http://gpu1/v1', 'http://gpu2/v1');
  const [again, three] = declare('http://gpu1/v1', 'http://gpu3/v1');
  expect(again).toBe(one);
  const [, back] = declare('http://gpu1/v1', 'http://gpu2/v1');
  expect(back).not.toBe(two);
  expect(back).not.toBe(three);
});
