import type { Config } from '../../platform/config/config.ts';
import { Places } from './places.ts';

const { signal } = new AbortController();
const placesOf = (workerConcurrency: number, workerPolledRuns: number) =>
  new Places({ workerConcurrency, workerPolledRuns } as Config);
const nextTurn = () => new Promise(setImmediate);

describe('the places of a worker', () => {
  it('are given back while a run polls, and free for others at once', async () => {
    const places = placesOf(2, 10);
    let freed = 0;
    places.onFree(() => (freed += 1));
    const [film, image] = [places.take('a'), places.take('b')];
    expect(places.free).toBe(0);
    const job = Promise.withResolvers<string>();
    const polled = film.polling(signal, () => job.promise);
    expect([places.free, freed, places.keys]).toEqual([1, 1, ['b']]);
    job.resolve('ended');
    expect(await polled).toBe('ended');
    film.leave();
    image.leave();
    expect([places.free, freed]).toEqual([2, 2]);
  });

  it('are kept by runs beyond the bound of polled runs, and one key leaves a fifth of it to others', async () => {
    const places = placesOf(20, 5);
    const job = Promise.withResolvers<void>();
    const polls = [1, 2, 3, 4, 5].map(() => places.take('a').polling(signal, () => job.promise));
    expect(places.free).toBe(19);
    const other = places.take('b').polling(signal, () => job.promise);
    const third = places.take('c').polling(signal, () => job.promise);
    expect([places.free, places.keys]).toEqual([18, ['a', 'c']]);
    job.resolve();
    await Promise.race([Promise.all([...polls, other, third]), nextTurn()]);
  });

  it('let one run in five download at a time, in turns of the keys, whatever the others do', async () => {
    const places = placesOf(10, 100);
    const hanging = Array.from({ length: 10 }, () => places.take('hanging'));
    expect(places.free).toBe(0);
    const ended: string[] = [];
    const films = ['a', 'a', 'a', 'b'].map((key) => {
      const place = places.take(key);
      const isReady = place.polling(signal, () => Promise.resolve()).then(() => void ended.push(key));
      return { place, isReady };
    });
    await nextTurn();
    expect(ended).toEqual(['a', 'a']);
    films[0]!.place.leave();
    await films[2]!.isReady.catch(() => undefined);
    films[1]!.place.leave();
    await Promise.all(films.map(({ isReady }) => isReady));
    expect(ended.toSorted()).toEqual(['a', 'a', 'a', 'b']);
    for (const place of [...hanging, ...films.map((film) => film.place)]) place.leave();
    expect(places.free).toBe(10);
  });

  it('keep no trace of a run that polls after its end, because its paid call was still in flight', async () => {
    const places = placesOf(2, 1);
    const ended = places.take('a');
    ended.leave();
    await expect(ended.polling(AbortSignal.abort('ended'), () => Promise.resolve())).rejects.toBe('ended');
    const next = places.take('b').polling(signal, () => Promise.resolve());
    expect(places.free).toBe(2);
    await next;
  });

  it('end the wait for a download with the reason of the signal', async () => {
    const places = placesOf(1, 10);
    const first = places.take('a');
    await first.polling(signal, () => Promise.resolve());
    const stop = new AbortController();
    const second = places.take('a');
    const waiting = second.polling(stop.signal, () => Promise.resolve());
    await nextTurn();
    stop.abort('deadline');
    await expect(waiting).rejects.toBe('deadline');
    second.leave();
    first.leave();
    await places.take('b').polling(signal, () => Promise.resolve());
  });
});
