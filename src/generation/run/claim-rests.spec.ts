import { jest } from '@jest/globals';
import { ClaimRests } from './task-claimer.ts';

describe('the rests of claims', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('begin after a claim, and are over some milliseconds later', () => {
    const rests = new ClaimRests();
    expect(rests.leftMs).toBeLessThanOrEqual(0);
    rests.begin();
    expect(rests.leftMs).toBe(5);
    jest.advanceTimersByTime(5);
    expect(rests.leftMs).toBe(0);
  });

  it('are longer for reserved places', () => {
    const rests = new ClaimRests();
    jest.advanceTimersByTime(100);
    expect(rests.beginReserved()).toBe(0);
    jest.advanceTimersByTime(40);
    expect(rests.beginReserved()).toBe(60);
    jest.advanceTimersByTime(60);
    expect(rests.beginReserved()).toBe(0);
  });
});
