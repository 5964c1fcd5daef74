import { rowsOfArrays, toArrays } from './column-arrays.ts';

const COLUMNS = { place: 'int', name: 'text', input: 'json', low: 'boolean' };

describe('rows as arrays of columns', () => {
  it('are read by their place', () => {
    expect(rowsOfArrays({ place: 'int', name: 'text' }, 3)).toBe(
      'select ($3::int[])[at] as place, ($4::text[])[at] as name from generate_series(1, cardinality($3::int[])) as at',
    );
  });

  it('leave out a column that no row has, and mark where one has not', () => {
    const rows = [
      { place: 1, input: { n: 1 }, low: undefined },
      { place: 2, name: undefined, input: null },
    ];
    expect(toArrays(COLUMNS, rows)).toEqual([[1, 2], null, ['{"n":1}', null], null]);
    expect(toArrays(COLUMNS, [{ place: 1 }, { place: 2, low: true }])).toEqual([[1, 2], null, null, [null, true]]);
  });

  it('have JSON as text, a list too', () => {
    expect(toArrays({ input: 'json' }, [{ input: ['a "b"'] }])).toEqual([[String.raw`["a \"b\""]`]]);
  });
});
