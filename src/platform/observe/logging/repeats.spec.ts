import { jest } from '@jest/globals';
import { Repeats } from './repeats.ts';
import { currentRequest } from './request-context.ts';

type Line = { level: string; repeated?: number; [field: string]: unknown };

function repeats() {
  const summaries: Line[] = [];
  const requests: (string | undefined)[] = [];
  const subject = new Repeats((level, fields) => {
    summaries.push({ level, ...fields });
    requests.push(currentRequest.getStore()?.id);
  });
  return { subject, summaries, requests };
}

const away = () => ({ event: 'claim.failed', err: Object.assign(new Error('away'), { code: 'ECONNREFUSED' }) });

describe('a line that repeats', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is written once at once, and once more in ten seconds with the number of its repeats', () => {
    const { subject, summaries } = repeats();
    const written = Array.from({ length: 40 }, () => {
      jest.advanceTimersByTime(250);
      return subject.absorb('warn', away());
    }).filter((absorbed) => !absorbed);
    expect(written).toHaveLength(1);
    jest.advanceTimersByTime(1_000);
    expect(summaries).toEqual([{ level: 'warn', ...away(), repeated: 39 }]);
  });

  it('goes on with one line in ten seconds for as long as it repeats, and then starts again', () => {
    const { subject, summaries } = repeats();
    for (let at = 0; at < 30; at += 1) {
      subject.absorb('warn', away());
      jest.advanceTimersByTime(1_000);
    }
    expect(summaries.map(({ repeated }) => repeated)).toEqual([9, 10, 10]);
    jest.advanceTimersByTime(10_000);
    expect(subject.absorb('warn', away())).toBe(false);
  });

  it('is the same in whichever request it is logged, and the line with the number belongs to none', () => {
    const { subject, summaries, requests } = repeats();
    for (const id of ['req_1', 'req_2']) {
      currentRequest.run({ id }, () => subject.absorb('warn', { ...away(), request_id: id }));
    }
    subject.flush();
    expect(summaries).toEqual([{ level: 'warn', ...away(), repeated: 1, request_ids: ['req_2'] }]);
    for (const id of ['req_3', 'req_4']) currentRequest.run({ id }, () => subject.absorb('warn', { event: 'other' }));
    jest.advanceTimersByTime(10_000);
    expect(requests.at(-1)).toBeUndefined();
  });

  it('names the requests that it has left out, twenty at most', () => {
    const { subject, summaries } = repeats();
    const failed = (id: string) => subject.absorb('error', { event: 'request.failed', code: 'x', request_id: id });
    expect(failed('req_0')).toBe(false);
    expect([failed('req_1'), failed('req_2'), failed('req_2')]).toEqual([true, true, true]);
    jest.advanceTimersByTime(10_000);
    expect(summaries).toEqual([
      { level: 'error', event: 'request.failed', code: 'x', repeated: 3, request_ids: ['req_1', 'req_2'] },
    ]);
    for (let nth = 3; nth < 40; nth += 1) failed(`req_${nth}`);
    subject.flush();
    expect(summaries[1]!.repeated).toBe(37);
    expect(summaries[1]!.request_ids).toEqual(Array.from({ length: 20 }, (_, at) => `req_${at + 3}`));
  });

  it('is another line with another level, field or error', () => {
    const { subject } = repeats();
    const lines = [
      ['warn', { event: 'a', err: new Error('x') }],
      ['error', { event: 'a', err: new Error('x') }],
      ['warn', { event: 'a', err: new Error('y') }],
      ['warn', { event: 'a', err: new Error('x', { cause: new Error('z') }) }],
      ['warn', { event: 'a', task_id: 'task_1' }],
      ['warn', { event: 'a', task_id: 'task_2' }],
    ] as const;
    expect(lines.map(([level, fields]) => subject.absorb(level, fields))).toEqual(lines.map(() => false));
  });

  it('is counted for at most 1,000 different lines', () => {
    const { subject } = repeats();
    for (let nth = 0; nth < 1_001; nth += 1) subject.absorb('warn', { event: 'a', nth });
    expect(subject.absorb('warn', { event: 'a', nth: 999 })).toBe(true);
    expect(subject.absorb('warn', { event: 'a', nth: 1_000 })).toBe(false);
  });
});
