import { total } from './activity.ts';

const run = (failed: number, last_error_code: string | null, last_error_at: number | null) => ({
  model: 'm',
  provider: 'p',
  succeeded: 1,
  failed,
  last_error_code,
  last_error_at,
});

describe('what all processes have counted', () => {
  it('is the sum, with the last error of any of them; a process of the last release counts nothing', () => {
    const sum = total([
      {},
      {
        created: 2,
        runs: [run(1, 'a', 5)],
        keys: [{ api_key_id: 'k', refused: 1, failed: 0 }],
        bus: { connected: true, outbox: 1 },
      },
      {
        created: 3,
        runs: [run(2, 'b', 9), { ...run(1, null, null), model: 'n' }],
        bus: { connected: false, outbox: 2 },
      },
      { runs: [run(4, 'c', 7)], keys: [{ api_key_id: 'k', refused: 2, failed: 5 }] },
    ]);
    expect(sum).toMatchObject({
      created: 5,
      ended: 0,
      runs: [
        { model: 'm', succeeded: 3, failed: 7, last_error_code: 'b', last_error_at: 9 },
        { model: 'n', succeeded: 1, failed: 1, last_error_code: null },
      ],
      keys: [{ api_key_id: 'k', refused: 3, failed: 5 }],
      bus: { connected: false, outbox: 3 },
      pool: { used: 0, max: 0 },
    });
  });

  it('keeps outcomes apart', () => {
    const of = (outcome: string, error: string | null) => ({ attempts: [{ outcome, error, count: 1 }] });
    expect(
      total([of('failed', 'timeout'), of('delivered', null), of('failed', 'tls_error'), of('delivered', null)]),
    ).toMatchObject({
      attempts: [
        { outcome: 'failed', error: 'timeout', count: 1 },
        { outcome: 'delivered', error: null, count: 2 },
        { outcome: 'failed', error: 'tls_error', count: 1 },
      ],
    });
  });
});
