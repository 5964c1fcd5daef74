import { resultOf } from './attempt.ts';

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
