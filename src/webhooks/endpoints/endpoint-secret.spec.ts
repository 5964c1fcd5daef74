import { randomBytes } from 'node:crypto';
import { newEndpointSecret, seal, secretHint, unseal } from './endpoint-secret.ts';

const key = randomBytes(32);

describe("an endpoint's secret", () => {
  it('is whsec_ and 24 random bytes in base64', () => {
    const [one, other] = [newEndpointSecret(), newEndpointSecret()];
    expect(one).not.toBe(other);
    expect(Buffer.from(one.slice('whsec_'.length), 'base64')).toHaveLength(24);
  });

  it('has a hint of at most 8 characters', () => {
    expect(secretHint('whsec_abcdefgh')).toBe('…efgh');
  });

  it('can be unsealed only with its key and for its endpoint', () => {
    const sealed = seal('whsec_secret', key, 'we_1');
    expect(sealed.includes('secret')).toBe(false);
    expect(unseal(sealed, [key], 'we_1')).toBe('whsec_secret');
    expect(() => unseal(sealed, [key], 'we_2')).toThrow();
    expect(() => unseal(sealed, [randomBytes(32)], 'we_1')).toThrow();
  });

  it('can be unsealed with any of several keys', () => {
    const sealed = seal('whsec_secret', key, 'we_1');
    expect(unseal(sealed, [randomBytes(32), key, randomBytes(32)], 'we_1')).toBe('whsec_secret');
    expect(() => unseal(sealed, [randomBytes(32), randomBytes(32)], 'we_1')).toThrow();
  });

  it('cannot be unsealed after a byte was changed, and is sealed differently each time', () => {
    const sealed = seal('whsec_secret', key, 'we_1');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] ^= 1;
      expect(() => unseal(changed, [key], 'we_1')).toThrow();
    }
    expect(() => unseal(sealed.subarray(0, 20), [key], 'we_1')).toThrow();
    expect(seal('whsec_secret', key, 'we_1').equals(sealed)).toBe(false);
  });
});
