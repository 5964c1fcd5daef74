import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { warnOfUntrustedProxy } from './observe-requests.ts';

type Hook = (request: object, reply: object, done: () => void) => void;

describe('requests with X-Forwarded-For', () => {
  afterEach(() => void jest.restoreAllMocks());

  function warningsOf(trustedProxies: string[], requests: object[]): object[] {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const hooks: Hook[] = [];
    warnOfUntrustedProxy({ addHook: (_: string, hook: Hook) => hooks.push(hook) } as never, trustedProxies);
    const done = jest.fn();
    for (const headers of requests) for (const hook of hooks) hook({ headers, ip: '10.0.0.1' }, {}, done);
    expect(done).toHaveBeenCalledTimes(hooks.length * requests.length);
    return warn.mock.calls.map(([line]) => line as object);
  }
  const forwarded = { 'x-forwarded-for': '203.0.113.7' };

  it('are reported once while no proxy is trusted', () => {
    expect(warningsOf([], [{}, forwarded, forwarded])).toEqual([
      { event: 'proxy.untrusted', address: '10.0.0.1', msg: expect.stringContaining('TRUSTED_PROXIES is not set') },
    ]);
  });

  it('are not reported where one is trusted, or none is in front', () => {
    expect(warningsOf(['10.0.0.0/8'], [forwarded])).toEqual([]);
    expect(warningsOf([], [{}])).toEqual([]);
  });
});
