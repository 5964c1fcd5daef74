import { jest } from '@jest/globals';
import { stopClock } from '../../../test/support/clock.ts';
import { Interval } from './interval.ts';
import { currentRequest } from '../observe/logging/request-context.ts';

/** A task that runs again after a second. Each run lasts until the test ends it, or no time at all. */
function interval(lasts: 'until ended' | 'no time' = 'no time') {
  const runs: { end: () => void; requestId: string | undefined }[] = [];
  let atOnce = 0;
  let most = 0;
  const subject = new Interval(async () => {
    most = Math.max(most, (atOnce += 1));
    const ended = Promise.withResolvers<void>();
    runs.push({ end: ended.resolve, requestId: currentRequest.getStore()?.id });
    if (lasts === 'until ended') await ended.promise;
    atOnce -= 1;
    return 1;
  });
  return { subject, runs, most: () => most };
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('a repeated task', () => {
  beforeEach(() => stopClock());
  afterEach(() => jest.useRealTimers());

  it('runs again after the time that it asks for', async () => {
    const { subject, runs } = interval();
    subject.start();
    await pass(0);
    expect(runs).toHaveLength(1);
    await pass(999);
    expect(runs).toHaveLength(1);
    await pass(1);
    expect(runs).toHaveLength(2);
    await subject.stop();
    await pass(10_000);
    expect(runs).toHaveLength(2);
  });

  it('runs on request, once for all that ask before it begins, and never twice at once', async () => {
    const { subject, runs, most } = interval('until ended');
    const first = subject.runNow();
    await pass(0);
    const more = [subject.runNow(), subject.runNow(), subject.runNow()];
    await pass(0);
    expect(runs).toHaveLength(1);
    runs[0]!.end();
    await pass(0);
    runs[1]!.end();
    await Promise.all([first, ...more]);
    expect([runs.length, most()]).toEqual([2, 1]);
    await subject.stop();
  });

  it('keeps its rhythm after a request', async () => {
    const { subject, runs } = interval();
    subject.start(60);
    await subject.runNow();
    await pass(3_000);
    expect(runs).toHaveLength(4);
    await subject.stop();
  });

  it('belongs to no request, whoever asks for it', async () => {
    const { subject, runs } = interval();
    await currentRequest.run({ id: 'req_1' }, () => subject.runNow());
    await pass(1_000);
    await subject.stop();
    expect(runs.map(({ requestId }) => requestId)).toEqual([undefined, undefined]);
  });

  it('ends with its current run: a request that waits is dropped', async () => {
    const { subject, runs } = interval('until ended');
    const first = subject.runNow();
    await pass(0);
    const second = subject.runNow();
    const stopped = subject.stop();
    runs[0]!.end();
    await Promise.all([stopped, first, second, subject.runNow()]);
    expect(runs).toHaveLength(1);
  });
});
