import { jest } from '@jest/globals';
import type { Config } from '../../platform/config/config.ts';
import { TakeoverPause } from './takeover-pause.ts';

describe('the pause before expired leases are taken over', () => {
  let wallMs: number;
  let monotonicMs: number;
  let standstills: number;
  let pause: TakeoverPause;

  const pass = (ms: number, wall = ms): boolean => {
    monotonicMs += ms;
    wallMs += wall;
    return pause.isOver();
  };

  beforeEach(() => {
    [wallMs, monotonicMs, standstills] = [1_795_000_000_000, 5_000, 0];
    jest.spyOn(Date, 'now').mockImplementation(() => wallMs);
    jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs);
    pause = new TakeoverPause({ taskHeartbeatS: 3 } as Config);
    pause.onStandstill(() => (standstills += 1));
  });

  afterEach(() => jest.restoreAllMocks());

  const waitOut = () => [pass(1_500), pass(1_500), pass(900), pass(100)];

  it('lasts a heartbeat and a second after the start', () => {
    expect(waitOut()).toEqual([false, false, false, true]);
    expect(standstills).toBe(0);
  });

  it.each([
    ['the machine was frozen and its monotonic clock with it', 0, 60_000],
    ['the process was stopped', 60_000, 60_000],
    ['the clock was set back', 1_000, -60_000],
  ])('begins again when %s', (_what, monotonic, wall) => {
    waitOut();
    expect(pass(monotonic, wall)).toBe(false);
    expect(standstills).toBe(1);
    expect(waitOut()).toEqual([false, false, false, true]);
  });

  it('does not begin again when a check is late by less than a heartbeat', () => {
    waitOut();
    expect(pass(3_900)).toBe(true);
  });
});
