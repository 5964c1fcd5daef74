import { coversModels, mayUse, MODEL_PATTERN } from './allowed-models.ts';

const open = (id: string) => ({ id, isListed: false });
const listed = (id: string) => ({ id, isListed: true });

it.each([
  [undefined, open('ink'), true],
  [undefined, listed('ink'), false],
  [[['ink']], open('ink'), true],
  [[['ink']], listed('ink'), true],
  [[['ink']], open('ink-2'), false],
  [[['in*']], listed('ink'), true],
  [[['ink*']], open('ink'), true],
  [[['*']], listed('ink'), true],
  [[['wax', 'ink']], open('ink'), true],
  [[['ink', 'wax'], ['ink']], open('ink'), true],
  [[['ink', 'wax'], ['ink']], open('wax'), false],
])('lists %j and the model %j: %s', (models, model, expected) => {
  expect(mayUse(models ? { models } : {}, model)).toBe(expected);
});

it.each([
  [['ink'], ['ink'], true],
  [['ink'], ['ink*'], false],
  [['in*'], ['ink'], true],
  [['in*'], ['ink*', 'in*'], true],
  [['ink*'], ['in*'], false],
  [['*'], ['in*', 'wax'], true],
  [['ink', 'wax*'], ['ink', 'wax-2'], true],
  [['ink', 'wax*'], ['ink', 'clay'], false],
])('%j cover %j: %s', (own, wanted, expected) => {
  expect(coversModels(own, wanted)).toBe(expected);
});

it.each([
  ['ink', true],
  ['gpt-image-2.5*', true],
  ['*', true],
  ['a*b', false],
  ['**', false],
  ['', false],
  ['Ink', false],
  ['-ink', false],
])('%s is a pattern: %s', (text, expected) => {
  expect(MODEL_PATTERN.test(text)).toBe(expected);
});
