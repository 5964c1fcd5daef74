import { toCsv } from './csv.ts';

it('never writes a cell that a spreadsheet runs as a formula', () => {
  expect(toCsv([['=1+1', '+a', '-b', '@c', 'plain', -5]])).toBe("'=1+1,'+a,'-b,'@c,plain,-5");
});

it('quotes commas, quotes and line breaks', () => {
  expect(toCsv([['a,b', 'say "x"', 'two\nlines']])).toBe('"a,b","say ""x""","two\nlines"');
});
