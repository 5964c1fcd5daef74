import { proxyNote } from './proxy-note.ts';

it('a proxy that nobody trusts is named', () => {
  const note = (publicUrl: string, trustedProxies: string[] = []) => proxyNote({ publicUrl, trustedProxies });
  expect(note('https://a.example')).toMatch(/^WARNING .*TRUSTED_PROXIES is not set/);
  expect(note('https://a.example', ['10.0.0.0/8'])).toBe('X-Forwarded-For of 10.0.0.0/8 names the client');
  expect(note('http://127.0.0.1:3000')).toBe('none is trusted');
});
