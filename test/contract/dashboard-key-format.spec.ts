import { newApiKey } from '../../src/auth/credentials/api-key-format.ts';
import { keyFault } from '../../packages/dashboard/src/features/session/key-format.ts';

describe('the check of an API key before it is sent', () => {
  it('passes every key that the service makes', () => {
    for (let i = 0; i < 100; i++) expect(keyFault(newApiKey())).toBeNull();
  });

  it('finds a mistyped character', () => {
    const key = newApiKey();
    const other = key[10] === 'a' ? 'b' : 'a';
    expect(keyFault(key.slice(0, 10) + other + key.slice(11))).toMatch(/character/);
  });

  it('says what is wrong with anything else', () => {
    expect(keyFault('')).toMatch(/Enter/);
    expect(keyFault('sk-abc')).toMatch(/dr_/);
    expect(keyFault('dr_abc')).toMatch(/49 characters, and this one has 6/);
  });
});
