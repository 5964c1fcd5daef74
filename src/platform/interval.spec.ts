import { setTimeout as sleep } from 'node:timers/promises';
import { Interval } from './interval.ts';
import { currentRequestId } from './logging/request-context.ts';

function interval(runMs = 20, nextS = 60) {
  const runs: { begunMs: number; requestId: string | undefined }[] = [];
  let atOnce = 0;
  let most = 0;
  const subject = new Interval(async () => {
    most = Math.max(most, (atOnce += 1));
    runs.push({ begunMs: performance.now(), requestId: currentRequestId.getStore() });
    await sleep(runMs);
    atOnce -= 1;
    return nextS;
  });
  return { subject, runs, most: () => most };
}

describe('a repeated task', () => {
  it('runs again after the time that it asks for', async () => {
    const { subject, runs } = interval(1, 0.02);
    subject.start();
    await sleep(150);
    await subject.stop();
    const count = runs.length;
    expect(count).toBeGreaterThan(2);
    await sleep(60);
    expect(runs).toHaveLength(count);
  });

  it('runs on request, once for all that ask before it begins, and never twice at once', async () => {
    const { subject, runs, most } = interval();
    const first = subject.runNow();
    await sleep(5);
    await Promise.all([first, subject.runNow(), subject.runNow(), subject.runNow()]);
    expect([runs.length, most()]).toEqual([2, 1]);
    await subject.stop();
  });

  it('keeps its rhythm after a request', async () => {
    const { subject, runs } = interval(1, 0.05);
    subject.start(60);
    await subject.runNow();
    await sleep(100);
    expect(runs.length).toBeGreaterThan(1);
    await subject.stop();
  });

  it('belongs to no request, whoever asks for it', async () => {
    const { subject, runs } = interval(1, 0.01);
    await currentRequestId.run('req_1', () => subject.runNow());
    await sleep(60);
    await subject.stop();
    expect(runs.length).toBeGreaterThan(1);
    expect(runs.map(({ requestId }) => requestId)).toEqual(runs.map(() => undefined));
  });

  it('ends with its current run: a request that waits is dropped', async () => {
    const { subject, runs } = interval();
    const first = subject.runNow();
    await sleep(5);
    const second = subject.runNow();
    await subject.stop();
    await Promise.all([first, second, subject.runNow()]);
    expect(runs).toHaveLength(1);
  });
});
