import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import { EvenLoad } from './even-load.ts';

const gpus: DeclaredBinding = { provider: 'openai', model: 'm' };
const bindingAt = (endpoint: string, declared?: DeclaredBinding, isOpen = false) =>
  ({ endpoint, circuit: { isOpen }, upstream: { declared } }) as unknown as Parameters<EvenLoad['inOrder']>[0][number];
const idsOf = (load: EvenLoad, bindings: Parameters<EvenLoad['inOrder']>[0]) =>
  load.inOrder(bindings).map(({ endpoint }) => endpoint);

const BINDINGS = [bindingAt('gpu1', gpus), bindingAt('gpu2', gpus), bindingAt('vendor')];

it('begins with the address that has the fewest tasks, of equals with the first', async () => {
  const load = new EvenLoad();
  expect(idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']);
  await load.at('gpu1', async () => {
    expect(idsOf(load, BINDINGS)).toEqual(['gpu2', 'gpu1', 'vendor']);
    await load.at('gpu2', async () => expect(idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']));
  });
  await expect(load.at('gpu1', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(idsOf(load, BINDINGS)).toEqual(['gpu1', 'gpu2', 'vendor']);
});

it('leaves an address whose circuit is open for the end, but before the next binding', () => {
  const bindings = [bindingAt('gpu1', gpus, true), bindingAt('gpu2', gpus), bindingAt('vendor')];
  expect(idsOf(new EvenLoad(), bindings)).toEqual(['gpu2', 'gpu1', 'vendor']);
});

it('keeps the order of bindings that are not of one declaration', async () => {
  const load = new EvenLoad();
  await load.at('first', async () =>
    expect(idsOf(load, [bindingAt('first'), bindingAt('second')])).toEqual(['first', 'second']),
  );
});
