import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type ConfigError } from '../../platform/config/config.ts';
import { readBindings } from './bindings-file.ts';
import { priceOf, type PricedRequest } from './price.ts';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-prices-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(yaml: string) {
  const file = join(folder, 'providers.yaml');
  writeFileSync(file, yaml);
  return readBindings({ ...loadConfig({}), providersFile: file });
}

function faultsOf(yaml: string): string[] {
  try {
    read(yaml);
    return [];
  } catch (error) {
    return (error as ConfigError).faults.map((fault) => fault.replace(/^.*providers.yaml, /, ''));
  }
}

const request = (fields: Partial<PricedRequest>): PricedRequest => ({
  provider: 'openai',
  model: 'gpt-image-2',
  upstreamModel: 'gpt-image-2',
  input: { resolution: '1K', n: 3 },
  approximations: [],
  ...fields,
});

describe('the prices of the PROVIDERS file', () => {
  it('are read exactly, as text or number', () => {
    const { currency, prices } = read(
      'currency: EUR\nprices:\n  - { per_task: "0.000001", per_image: 0.1, per_second: 1000000, per_million_output_tokens: "7" }',
    );
    expect(currency).toBe('EUR');
    expect(prices[0]?.amounts).toEqual({
      per_task: 1n,
      per_image: 100_000n,
      per_second: 1_000_000_000_000n,
      per_million_output_tokens: 7_000_000n,
    });
    expect([prices[0]?.onFailure, prices[0]?.onCancel]).toEqual(['none', 'full']);
  });

  it('may be JSON, and are USD unless the file says otherwise', () => {
    expect(read('{"prices": [{"per_image": 0.30}]}')).toMatchObject({
      currency: 'USD',
      prices: [{ amounts: { per_image: 300_000n } }],
    });
    expect(read('models: {}')).toMatchObject({ currency: 'USD', prices: [] });
  });

  it.each([
    ['currency: usd', 'line 1: currency must be three capital letters such as USD, not "usd"'],
    ['currency: [USD]', 'line 1: currency must be three capital letters such as USD, not a list or map'],
    ['prices: 5', 'line 1: prices must be a list'],
    ['prices:\n  - 7', 'line 2: a price must be a map of fields'],
    ['prices:\n  - { provider: openai }', /^line 2: a price needs at least one of per_task, per_image/],
    [
      'prices:\n  - { per_image: "0.1", provider: midjourney }',
      /^line 2: unknown provider "midjourney"; known are openai/,
    ],
    ['prices:\n  - per_image: 1\n    model: dall-e-9', /^line 3: unknown model "dall-e-9"/],
    [
      'prices:\n  - per_image: 1\n    model: seedance-2\n    resolution: 4K',
      /^line 4: unknown resolution "4K"; known are 720p/,
    ],
    ['prices:\n  - { per_image: 1, colour: red }', /^line 2: unknown field "colour"/],
    ['prices:\n  - { per_image: 1, on_failure: half }', 'line 2: unknown on_failure "half"; known are none, full'],
    ...['-1', '1.0000001', '1000000.000001', '1e3', '""', 'free', '0x10', '.5', 'null', '[1]'].map(
      (amount): [string, RegExp] => [
        `prices:\n  - per_task: 1\n  - per_image: ${amount}`,
        /^line 3: per_image must be a decimal from 0 to 1000000 with at most 6 places, not /,
      ],
    ),
    ['prices:\n  - { per_image: "0.1", per_image: "0.2" }', 'line 2: duplicate key "per_image"'],
    ['prices:\n  - &row { per_image: 1 }', 'line 2: anchors are not allowed'],
    ['prices:\n  - { per_image: !!int 1 }', /^line 2: tags are not allowed/],
    ['budget: 5', /^line 1: unknown field "budget"; known are models, currency, prices/],
  ])('name the line and the value of the fault in %j', (yaml, fault) => {
    expect(faultsOf(yaml)).toEqual([typeof fault === 'string' ? fault : expect.stringMatching(fault)]);
  });

  it('may have thousands of rows, up to 100,000 names and values', () => {
    const rows = (count: number) => `prices:\n${'  - { provider: openai, per_image: 1 }\n'.repeat(count)}`;
    expect(read(rows(19_000)).prices).toHaveLength(19_000);
    expect(faultsOf(rows(21_000))).toEqual([
      expect.stringMatching(/^line \d+: has more than 100000 names and values$/),
    ]);
  });

  it('report all faults at once', () => {
    expect(faultsOf('currency: x\nprices:\n  - { per_image: x }\nmodels:\n  gpt-image-2: []')).toHaveLength(3);
  });
});

describe('the models of the PROVIDERS file', () => {
  it.each([
    ['models:\n  gpt-image-2:\n    - { provider: midjourney, model: x }', /^line 3: unknown provider "midjourney"/],
    ['models:\n  dall-e-2:\n    - { provider: openai, model: x }', /^line 2: unknown model "dall-e-2"/],
    [
      'models:\n  gpt-image-2:\n    - provider: openai\n      model: x\n      speed: 2',
      /^line 5: unknown field "speed"/,
    ],
    ['models: [', /line 1/],
  ])('name the line and the value of the fault in %j', (yaml, fault) => {
    expect(faultsOf(yaml)[0]).toMatch(fault);
  });
});

describe('the price of a request', () => {
  const { prices } = read(`prices:
  - { provider: openai, resolution: 2K, per_image: "0.2", on_failure: full }
  - { provider: openai, upstream_model: other, per_image: 9 }
  - { provider: openai, per_task: "0.01", per_image: "0.1", on_cancel: none }
  - { model: seedance-2, per_million_output_tokens: 7, per_second: "0.15" }
  - { provider: gemini, per_million_input_tokens: "0.3" }`);
  const price = (fields: Partial<PricedRequest>) => priceOf(prices, request(fields));

  it('is the first row that fits, with the full amount', () => {
    expect(price({})).toEqual({ per_task: 10_000, per_image: 100_000, full: 310_000, failed: 0, stopped: 0 });
    expect(price({ input: { resolution: '2K' } })).toEqual({
      per_image: 200_000,
      full: 200_000,
      failed: 200_000,
      stopped: 200_000,
    });
    expect(price({ upstreamModel: 'other' })).toMatchObject({ full: 27_000_000 });
    expect(price({ provider: 'fal' })).toBeNull();
  });

  it('follows what the provider makes instead', () => {
    const approximations = [{ param: 'duration', requested: 20, used: 15 }];
    const input = { resolution: '720p', duration: 20 };
    expect(price({ provider: 'ark', model: 'seedance-2', input, approximations })).toEqual({
      per_second: 150_000,
      per_million_output_tokens: 7_000_000,
      full: 2_250_000,
      failed: 0,
      stopped: 2_250_000,
    });
  });

  it('has no full amount when it depends on tokens alone', () => {
    expect(price({ provider: 'gemini' })).toEqual({ per_million_input_tokens: 300_000, failed: 0 });
  });

  it('keeps an amount of 0: tokens that cost nothing win over a price by picture, too', () => {
    const { prices: free } = read('prices: [{ per_image: "0.1", per_million_output_tokens: 0 }]');
    expect(priceOf(free, request({}))).toMatchObject({ per_image: 100_000, per_million_output_tokens: 0 });
  });
});
