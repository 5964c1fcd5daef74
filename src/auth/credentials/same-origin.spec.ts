import { isOwnOrigin } from './same-origin.ts';

const PUBLIC_URL = 'https://darkroom.example/below';

describe('the own origin of the service', () => {
  it.each([
    ['http://127.0.0.1:3000', '127.0.0.1:3000'],
    ['http://studio.lan', 'studio.lan'],
    ['http://studio.lan', 'studio.lan:80'],
    ['https://studio.lan', 'studio.lan:443'],
    ['https://studio.lan', 'studio.lan'], // a proxy has ended TLS
    ['http://[::1]:3000', '[::1]:3000'],
    ['https://darkroom.example', '10.0.0.7:3000'], // the public address, behind a proxy that changes Host
    ['https://darkroom.example', undefined],
  ])('is %s for a request to %s', (origin, host) => {
    expect(isOwnOrigin(origin, host, PUBLIC_URL)).toBe(true);
  });

  it.each([
    ['http://127.0.0.1:3001', '127.0.0.1:3000'],
    ['http://localhost:3000', '127.0.0.1:3000'],
    ['https://studio.lan', 'studio.lan:80'],
    ['http://darkroom.example', '10.0.0.7:3000'],
    ['https://darkroom.example.evil.test', '10.0.0.7:3000'],
    ['https://evil.test', 'darkroom.example'],
    ['null', 'studio.lan'],
    ['', 'studio.lan'],
    ['file://studio.lan', 'studio.lan'],
    ['http://studio.lan@evil.test', 'studio.lan'],
    ['http://studio.lan', undefined],
    ['http://studio.lan', 'studio.lan@evil.test:1'],
  ])('is not %s for a request to %s', (origin, host) => {
    expect(isOwnOrigin(origin, host, PUBLIC_URL)).toBe(false);
  });
});
