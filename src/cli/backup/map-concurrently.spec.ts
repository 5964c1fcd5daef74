import { mapConcurrently } from './map-concurrently.ts';

const turns = async (count: number) => {
  for (let nth = 0; nth < count; nth += 1) await new Promise((resolve) => setImmediate(resolve));
};

async function* numbers(count: number, pauseTurns = 0): AsyncGenerator<number> {
  for (let n = 0; n < count; n += 1) {
    yield n;
    await turns(pauseTurns);
  }
}

describe('mapping at once', () => {
  it('maps every item once, and never more at a time than the limit', async () => {
    let now = 0;
    let most = 0;
    const results = await Array.fromAsync(
      mapConcurrently(numbers(20), 3, async (n) => {
        most = Math.max(most, (now += 1));
        await turns(n % 4);
        now -= 1;
        return n * 2;
      }),
    );
    expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n * 2));
    expect(most).toBe(3);
  });

  it('throws the failure of an item, also of one that fails while the next is awaited', async () => {
    const started: number[] = [];
    const failing = mapConcurrently(numbers(100, 20), 5, async (n) => {
      started.push(n);
      if (n === 0) throw new Error('the disk is full');
    });
    await expect(Array.fromAsync(failing)).rejects.toThrow('the disk is full');
    expect(started.length).toBeLessThanOrEqual(5);
  });
});
