import type { Config } from '../../platform/config/config.ts';
import type { GetTerms, Storage } from '../../platform/storage/storage.ts';
import { DirectDelivery } from './direct-delivery.ts';

/** Milliseconds; a multiple of 75 s. */
const BEGIN = 1_800_000_000_000;
const DAY_S = 86_400;

const signed: GetTerms[] = [];
const storage = { signGet: async (key: string, terms: GetTerms) => (signed.push(terms), `https://bucket/${key}`) };

/** @param expiresInS seconds from BEGIN until the file is deleted */
async function link(delivery: 'proxy' | 'redirect', atS: number, expiresInS = DAY_S) {
  const file = {
    apiKeyId: 'key_a',
    storageKey: 'task_a/1-0.png',
    contentType: 'image/png',
    bytes: 3,
    sha256: '00',
    expiresAt: new Date(BEGIN + expiresInS * 1000),
  };
  const config = { fileDelivery: delivery } as Config;
  const direct = new DirectDelivery(config, storage as unknown as Storage);
  const made = await direct.linkTo(file, 'inline', BEGIN + atS * 1000);
  return { made, terms: signed.at(-1)! };
}

describe('a link of the bucket', () => {
  it('is not made by default', async () => {
    expect((await link('proxy', 0)).made).toBeNull();
    expect(signed).toEqual([]);
  });

  it('is the same for 75 s, and works for 225 to 300 s', async () => {
    const first = await link('redirect', 0);
    expect(first.made).toEqual({ url: 'https://bucket/task_a/1-0.png', maxAgeS: 240 });
    expect(first.terms).toMatchObject({ signedAt: new Date(BEGIN), lifetimeS: 300, contentType: 'image/png' });
    const last = await link('redirect', 74.9);
    expect(last.terms).toEqual(first.terms);
    expect(last.made!.maxAgeS).toBe(165);
    expect((await link('redirect', 75)).terms.signedAt).toEqual(new Date(BEGIN + 75_000));
  });

  it('does not outlive its file, and is not kept shortly before that', async () => {
    const { made, terms } = await link('redirect', 80, 100);
    expect(terms).toMatchObject({ signedAt: new Date(BEGIN + 75_000), lifetimeS: 25 });
    expect(made!.maxAgeS).toBe(0);
  });
});
