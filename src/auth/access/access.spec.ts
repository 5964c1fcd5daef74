import { shareOwner } from './access.ts';
import type { Caller, CallerBound } from './caller.ts';

const caller = { apiKeyId: 'key_c' } as Caller;
const bound = (apiKeyId: string) => ({ apiKeyId }) as CallerBound;

describe('whose share a key uses', () => {
  it('is its own, if no key above it has limits', () => {
    expect(shareOwner(caller)).toBe('key_c');
  });

  it('is that of the topmost key above it that has limits', () => {
    expect(shareOwner({ ...caller, bounds: [bound('key_b'), bound('key_a')] })).toBe('key_a');
  });
});
