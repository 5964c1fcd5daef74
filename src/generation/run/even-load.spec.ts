import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import { EvenLoad } from './even-load.ts';

type Bindings = Parameters<EvenLoad['inOrder']>[0];

const gpus: DeclaredBinding = { provider: 'openai', model: 'm' };
const bindingAt = (endpoint: string, declared?: DeclaredBinding, isOpen = false) =>
  ({
    name: 'openai',
    endpoint,
    circuit: { isOpen },
    upstream: { declared, baseUrl: endpoint },
  }) as unknown as Bindings[number];
const counts =
  (tasks: Record<string, number> = {}) =>
  async () =>
    new Map(Object.entries(tasks));
const idsOf = async (load: EvenLoad, bindings: Bindings, count: Parameters<EvenLoad['inOrder']>[1] = counts()) =>
  (await load.inOrder(bindings, count)).map(({ endpoint }) => endpoint);

const BINDINGS = [bindingAt('gpu1', gpus), bindingAt('gpu2', gpus), bindingAt('vendor')];

it('begins with the address that has the fewest tasks, of equals with the first', async () => {
  const load = new EvenLoad();
  expect(await idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']);
  await load.at('gpu1', async () => {
    expect(await idsOf(load, BINDINGS)).toEqual(['gpu2', 'gpu1', 'vendor']);
    await load.at('gpu2', async () => expect(await idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']));
  });
  await expect(load.at('gpu1', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']);
});

it('counts the tasks of other processes too', async () => {
  const load = new EvenLoad();
  expect(await idsOf(load, BINDINGS, counts({ gpu1: 2, gpu2: 1 }))).toEqual(['gpu2', 'gpu1', 'vendor']);
  await load.at('gpu2', async () =>
    expect(await idsOf(load, BINDINGS, counts({ gpu1: 1 }))).toEqual(['gpu1', 'gpu2', 'vendor']),
  );
});

it('asks for no count where each binding has one address', async () => {
  const count = () => Promise.reject(new Error('counted'));
  expect(await idsOf(new EvenLoad(), [BINDINGS[0]!, BINDINGS[2]!], count)).toEqual(['gpu1', 'vendor']);
});

it('leaves an address whose circuit is open for the end, but before the next binding', async () => {
  const bindings = [bindingAt('gpu1', gpus, true), bindingAt('gpu2', gpus), bindingAt('vendor')];
  expect(await idsOf(new EvenLoad(), bindings)).toEqual(['gpu2', 'gpu1', 'vendor']);
});

it('keeps the order of bindings that are not of one declaration', async () => {
  const load = new EvenLoad();
  await load.at('first', async () =>
    expect(await idsOf(load, [bindingAt('first'), bindingAt('second')])).toEqual(['first', 'second']),
  );
});
