import { jest } from '@jest/globals';
import { stopClock } from '../../../test/support/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { KeylessRate } from './keyless-rate.ts';

describe('requests without a key', () => {
  afterEach(() => void jest.useRealTimers());

  const refused = (rate: KeylessRate, address: string): boolean => {
    try {
      rate.count(address);
      return false;
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limit_exceeded' });
      return true;
    }
  };
  const rateOf = (rateKeylessPerMin: number) => new KeylessRate({ rateKeylessPerMin } as Config);

  it('are bounded by address and minute', () => {
    stopClock();
    const rate = rateOf(2);
    const tries = () => ['192.0.2.1', '192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'].map((from) => refused(rate, from));
    expect(tries()).toEqual([false, false, true, false]);
    jest.advanceTimersByTime(60_000);
    expect(tries()).toEqual([false, false, true, false]);
  });

  it('are counted together from one /64 of IPv6', () => {
    const rate = rateOf(1);
    const from = ['2001:db8:1:2::1', '2001:db8:1:2:3::9', '2001:db8:1:3::1'];
    expect(from.map((address) => refused(rate, address))).toEqual([false, true, false]);
  });

  it('have no bound at 0', () => {
    const rate = rateOf(0);
    expect(Array.from({ length: 500 }, () => refused(rate, '192.0.2.1'))).not.toContain(true);
  });
});
