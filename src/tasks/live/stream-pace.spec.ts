import { StreamPace } from './stream-pace.ts';

const task = (api_key_id: string, characters: number) => ({
  api_key_id,
  input: { prompt: 'a'.repeat(characters) },
  metadata: {},
});

describe('the pace of streams', () => {
  it('lets short inputs through', () => {
    const pace = new StreamPace();
    const { signal } = new AbortController();
    const turns = Array.from({ length: 5_000 }, () => pace.turnOf(task('key_a', 8_000), signal));
    expect(turns.every((turn) => turn === null)).toBe(true);
  });

  it('makes long inputs of a key wait for each other, and not those of another key', async () => {
    const pace = new StreamPace();
    const closed = new AbortController();
    const long = task('key_a', 4_000_000);
    expect(pace.turnOf(long, closed.signal)).toBeNull();
    const second = pace.turnOf(long, closed.signal);
    expect(second).not.toBeNull();
    expect(pace.turnOf(task('key_b', 32_000), closed.signal)).toBeNull();
    closed.abort();
    await second;
  });

  it('gives a turn of a closed stream to the next one', async () => {
    const pace = new StreamPace();
    const [open, closed] = [new AbortController(), new AbortController()];
    const huge = task('key_a', 8_000_000);
    pace.turnOf(task('key_a', 32_000), open.signal);
    const waits = Array.from({ length: 1_000 }, () => pace.turnOf(huge, closed.signal));
    const next = pace.turnOf(task('key_a', 32_000), open.signal);
    closed.abort();
    await Promise.all(waits);
    await next; // else it would wait for a quarter of an hour
  });
});
