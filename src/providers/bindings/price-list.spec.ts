import type { Price } from './price.ts';
import { priceList } from './price-list.ts';

const price = (fits: Price['fits'], amounts: Price['amounts']): Price => ({
  fits,
  amounts,
  onFailure: 'none',
  onCancel: 'full',
});
const OPENAI = { provider: 'openai', upstreamModel: 'gpt-image-2' };
const FAL = { provider: 'fal', upstreamModel: 'fal-ai/gpt' };

describe('the prices of a model', () => {
  it('are the rows that fit its bindings, up to the first that fits everything', () => {
    const prices = [
      price({ provider: 'openai', resolution: '4K', quality: 'high' }, { per_image: 410_000n }),
      price({ model: 'sora-2' }, { per_second: 9n }),
      price({ provider: 'openai', upstream_model: 'other' }, { per_image: 8n }),
      price({ model: 'gpt-image-2' }, { per_image: 40_000n, per_task: 1_000n }),
      price({}, { per_task: 7n }),
    ];
    expect(priceList(prices, 'gpt-image-2', [OPENAI])).toEqual([
      { resolution: '4K', quality: 'high', unit: 'image', amount_micros: 410_000 },
      { unit: 'task', amount_micros: 1_000 },
      { unit: 'image', amount_micros: 40_000 },
    ]);
  });

  it('are those of the dearest binding', () => {
    const prices = [
      price({ provider: 'fal' }, { per_image: 50_000n }),
      price({ resolution: '2K' }, { per_image: 70_000n }),
      price({}, { per_image: 40_000n }),
    ];
    expect(priceList(prices, 'gpt-image-2', [OPENAI, FAL])).toEqual([
      { resolution: '2K', unit: 'image', amount_micros: 70_000 },
      { unit: 'image', amount_micros: 50_000 },
    ]);
  });

  it('are none when no row fits', () => {
    expect(priceList([price({ provider: 'ark' }, { per_task: 1n })], 'gpt-image-2', [OPENAI])).toEqual([]);
    expect(priceList([price({}, { per_task: 1n })], 'gpt-image-2', [])).toEqual([]);
  });
});
