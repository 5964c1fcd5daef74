import { modelsOf } from './models-of.ts';

const served = [
  { id: 'one', bindings: [{ name: 'openai', endpoint: 'openai a' }] },
  {
    id: 'two',
    bindings: [
      { name: 'openai', endpoint: 'openai a' },
      { name: 'fal', endpoint: 'fal b' },
    ],
  },
  { id: 'none', bindings: [] },
];
const pause = (id: string, kind: 'model' | 'provider' | 'place', target: string) => ({ id, kind, target });
const of = (...pauses: ReturnType<typeof pause>[]) => Object.fromEntries(modelsOf(pauses, served));

describe('the models that pauses hold', () => {
  it('are the model itself', () => {
    expect(of(pause('1', 'model', 'two'))).toEqual({ 1: ['two'] });
  });

  it('are those that only the paused provider or place serves', () => {
    expect(of(pause('1', 'provider', 'openai'))).toEqual({ 1: ['one'] });
    expect(of(pause('1', 'place', 'openai a'))).toEqual({ 1: ['one'] });
    expect(of(pause('1', 'place', 'fal b'))).toEqual({ 1: [] });
  });

  it('are those that several pauses leave without a provider, for the newest of them', () => {
    expect(of(pause('1', 'provider', 'openai'), pause('2', 'place', 'fal b'))).toEqual({ 1: ['one'], 2: ['two'] });
    expect(of(pause('1', 'place', 'fal b'), pause('2', 'provider', 'openai'))).toEqual({ 1: [], 2: ['one', 'two'] });
  });

  it('belong to one pause each', () => {
    expect(of(pause('1', 'model', 'one'), pause('2', 'model', 'one'), pause('3', 'provider', 'openai'))).toEqual({
      1: [],
      2: ['one'],
      3: [],
    });
  });
});
