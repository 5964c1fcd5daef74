import { resultOf, retryDelayS, snippetOf } from './attempt.ts';

const head = { status: 500, headers: { 'retry-after': '7' } };
const body = Buffer.from(`busy\0${'x'.repeat(20_000)}`);

describe('the result of an attempt', () => {
  it('keeps the first 4 kB of the response', () => {
    const result = resultOf(head, body);
    expect(result).toMatchObject({ outcome: 'failed', status_code: 500, error: 'http_status', retryAfter: '7' });
    expect(result.response_snippet).toMatch(/^busy\ufffdx{4000,4091}$/);
  });

  it('tells an empty body from one that broke off or is not kept', () => {
    expect(resultOf(head, Buffer.alloc(0))).toMatchObject({ status_code: 500, response_snippet: '' });
    expect(resultOf(head)).toMatchObject({ status_code: 500, error: 'http_status', response_snippet: null });
  });
});

const SCHEDULE = [5, 30, 120];
const nowMs = Date.parse('2026-11-20T12:00:00Z');
const delay = (failures: number, retryAfter?: unknown, random = 0) =>
  retryDelayS(SCHEDULE, failures, retryAfter, { random: () => random, nowMs });

describe('the time to the next attempt', () => {
  it('follows the schedule, then is null', () => {
    expect([1, 2, 3, 4].map((failures) => delay(failures))).toEqual([5, 30, 120, null]);
    expect(retryDelayS([], 1, undefined)).toBeNull();
  });

  it('is up to 20 % longer, at random', () => {
    expect(delay(2, undefined, 0.5)).toBeCloseTo(33);
    expect(delay(2, undefined, 0.9999)).toBeLessThan(36);
    for (let tries = 0; tries < 100; tries++) {
      const drawn = retryDelayS(SCHEDULE, 1, undefined) as number;
      expect(drawn).toBeGreaterThanOrEqual(5);
      expect(drawn).toBeLessThan(6);
    }
  });

  it.each([
    ['7', 7],
    [' 7 ', 7],
    ['1', 5],
    ['0', 5],
    ['3600', 10],
    ['Fri, 20 Nov 2026 12:00:08 GMT', 8],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 5],
    ['Sat, 21 Nov 2026 12:00:00 GMT', 10],
  ])('follows Retry-After %j, between one and two times the scheduled delay', (header, expected) => {
    expect(delay(1, header)).toBe(expected);
  });

  it.each([
    '',
    'soon',
    '-1',
    '1.5',
    '1e3',
    '2026-11-20T13:00:00Z',
    '99999999999999999999',
    'Fri, nonsense',
    undefined,
    ['7', '8'],
  ])('ignores Retry-After %j', (header) => expect(delay(1, header)).toBe(5));

  it('is null after the schedule, whatever Retry-After says', () => {
    expect(delay(4, '7')).toBeNull();
  });
});

const bytes = (text: string) => Buffer.byteLength(text);

describe('the snippet of a response', () => {
  it('is the text, which is empty for an empty response', () => {
    expect(snippetOf(Buffer.from('no such order'))).toBe('no such order');
    expect(snippetOf(Buffer.alloc(0))).toBe('');
  });

  it('is at most 4 kB and never ends in a partial character', () => {
    expect(snippetOf(Buffer.from('x'.repeat(20_000)))).toBe('x'.repeat(4096));
    expect(snippetOf(Buffer.from('漢'.repeat(5000)))).toBe('漢'.repeat(1365));
    expect(snippetOf(Buffer.from(`x${'🙂'.repeat(5000)}`))).toBe(`x${'🙂'.repeat(1023)}`);
  });

  it('contains nothing that a text column rejects', () => {
    expect(snippetOf(Buffer.from('a\0b'))).toBe('a\ufffdb');
    const binary = snippetOf(Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 7) % 256)));
    expect(binary.isWellFormed()).toBe(true);
    expect(binary).not.toContain('\0');
    expect(bytes(binary)).toBeLessThanOrEqual(4096);
  });
});
