import type { Config } from '../../platform/config/config.ts';
import { Slots } from './slots.ts';

const { signal } = new AbortController();
const slotsOf = (workerConcurrency: number, workerPolledRuns: number) =>
  new Slots({ workerConcurrency, workerPolledRuns } as Config);
const nextTurn = () => new Promise(setImmediate);

describe('the slots of a worker', () => {
  it('are given back while a run polls, and free for others at once', async () => {
    const slots = slotsOf(2, 10);
    let freed = 0;
    slots.onFree(() => (freed += 1));
    const [film, image] = [slots.take('a'), slots.take('b')];
    expect(slots.free).toBe(0);
    const job = Promise.withResolvers<string>();
    const polled = film.polling(signal, () => job.promise);
    expect([slots.free, freed, slots.keys]).toEqual([1, 1, ['b']]);
    job.resolve('ended');
    expect(await polled).toBe('ended');
    film.leave();
    image.leave();
    expect([slots.free, freed]).toEqual([2, 2]);
  });

  it('are kept by runs beyond the bound of polled runs, and one key leaves a fifth of it to others', async () => {
    const slots = slotsOf(20, 5);
    const job = Promise.withResolvers<void>();
    const polls = [1, 2, 3, 4, 5].map(() => slots.take('a').polling(signal, () => job.promise));
    expect(slots.free).toBe(19);
    const other = slots.take('b').polling(signal, () => job.promise);
    const third = slots.take('c').polling(signal, () => job.promise);
    expect([slots.free, slots.keys]).toEqual([18, ['a', 'c']]);
    job.resolve();
    await Promise.race([Promise.all([...polls, other, third]), nextTurn()]);
  });

  it('let one run in five download at a time, in turns of the keys, whatever the others do', async () => {
    const slots = slotsOf(10, 100);
    const hanging = Array.from({ length: 10 }, () => slots.take('hanging'));
    expect(slots.free).toBe(0);
    const ended: string[] = [];
    const films = ['a', 'a', 'a', 'b'].map((key) => {
      const slot = slots.take(key);
      const isReady = slot.polling(signal, () => Promise.resolve()).then(() => void ended.push(key));
      return { slot, isReady };
    });
    await nextTurn();
    expect(ended).toEqual(['a', 'a']);
    films[0]!.slot.leave();
    await films[2]!.isReady.catch(() => undefined);
    films[1]!.slot.leave();
    await Promise.all(films.map(({ isReady }) => isReady));
    expect(ended.toSorted()).toEqual(['a', 'a', 'a', 'b']);
    for (const slot of [...hanging, ...films.map((film) => film.slot)]) slot.leave();
    expect(slots.free).toBe(10);
  });

  it('keep no trace of a run that polls after its end, because its paid call was still in flight', async () => {
    const slots = slotsOf(2, 1);
    const ended = slots.take('a');
    ended.leave();
    await expect(ended.polling(AbortSignal.abort('ended'), () => Promise.resolve())).rejects.toBe('ended');
    const next = slots.take('b').polling(signal, () => Promise.resolve());
    expect(slots.free).toBe(2);
    await next;
  });

  it('end the wait for a download with the reason of the signal', async () => {
    const slots = slotsOf(1, 10);
    const first = slots.take('a');
    await first.polling(signal, () => Promise.resolve());
    const stop = new AbortController();
    const second = slots.take('a');
    const waiting = second.polling(stop.signal, () => Promise.resolve());
    await nextTurn();
    stop.abort('deadline');
    await expect(waiting).rejects.toBe('deadline');
    second.leave();
    first.leave();
    await slots.take('b').polling(signal, () => Promise.resolve());
  });
});
