import { jest } from '@jest/globals';
import { ClaimIntervals } from './task-claimer.ts';

describe('the rests of claims', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('begin after a claim, and are over some milliseconds later', () => {
    const intervals = new ClaimIntervals();
    expect(intervals.leftMs).toBeLessThanOrEqual(0);
    intervals.begin();
    expect(intervals.leftMs).toBe(5);
    jest.advanceTimersByTime(5);
    expect(intervals.leftMs).toBe(0);
  });

  it('are longer for reserved places', () => {
    const intervals = new ClaimIntervals();
    jest.advanceTimersByTime(100);
    expect(intervals.beginReserved()).toBe(0);
    jest.advanceTimersByTime(40);
    expect(intervals.beginReserved()).toBe(60);
    jest.advanceTimersByTime(60);
    expect(intervals.beginReserved()).toBe(0);
  });
});
