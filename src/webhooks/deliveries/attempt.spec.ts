import { resultOf } from './attempt.ts';

const head = { status: 500, headers: { 'retry-after': '7' } };
const body = Buffer.from(`busy\0${'x'.repeat(20_000)}`);

describe('the result of an attempt', () => {
  it('keeps the first 4 kB of the response of a public address', () => {
    const result = resultOf(head, { body, isExcepted: false });
    expect(result).toMatchObject({ outcome: 'failed', status_code: 500, error: 'http_status', retryAfter: '7' });
    expect(result.response_snippet).toMatch(/^busy\ufffdx{4000,4091}$/);
  });

  it('keeps only the status of an excepted address, and of a response whose body broke off', () => {
    for (const result of [resultOf(head, { body, isExcepted: true }), resultOf(head)]) {
      expect(result).toMatchObject({ status_code: 500, error: 'http_status', response_snippet: null });
    }
  });
});
