import { readFileSync } from 'node:fs';
import { FAILURES } from './error-words.ts';

it('has words for every reason why a task fails', () => {
  const schema = readFileSync(new URL('../../../../schema.graphql', import.meta.url), 'utf8');
  const body = /enum TaskErrorCode \{(?<body>[^}]*)\}/.exec(schema)?.groups?.['body'] ?? '';
  const codes = [...body.matchAll(/^ {2}([A-Z_]+)$/gm)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(10);
  expect(Object.keys(FAILURES).toSorted()).toEqual(codes.toSorted());
});
