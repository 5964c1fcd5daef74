import { textAt, valuesAt } from './json-at.ts';

const ANSWER = { id: 7, a: { b: [{ url: 'x' }, { url: 'y' }, { no: 1 }] }, empty: null, list: ['p', 'q'] };

it.each([
  ['$', [ANSWER]],
  ['$.id', [7]],
  ['$.a.b[0].url', ['x']],
  ['$.a.b[*].url', ['x', 'y']],
  ['$.list[*]', ['p', 'q']],
  ['$.list[1]', ['q']],
  ['$.list[2]', []],
  ['$.a.b.url', []],
  ['$.empty', []],
  ['$.constructor', []],
  ['$.list.length', []],
])('finds at %s %j', (path, values) => {
  expect(valuesAt(ANSWER, path)).toEqual(values);
});

it('reads text and numbers as text', () => {
  expect([textAt(ANSWER, '$.id'), textAt(ANSWER, '$.a'), textAt(ANSWER, undefined)]).toEqual([
    '7',
    undefined,
    undefined,
  ]);
});
