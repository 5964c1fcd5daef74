import { globSync, readFileSync } from 'node:fs';
import { buildSchema, type FragmentDefinitionNode, Kind, parse, print, specifiedRules, validate, visit } from 'graphql';
import { DOCUMENT_LIMITS, limitDocument } from '../../src/platform/graphql/document-limits.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const schema = buildSchema(read('schema.graphql'));

const texts = globSync('packages/dashboard/src/**/*.{ts,tsx}', { cwd: root.pathname }).flatMap((path) =>
  [...read(path).matchAll(/graphql\(\s*`(?<text>[^`]+)`/g)].map(({ groups }) => groups?.['text'] ?? ''),
);
const definitions = texts.flatMap((text) => parse(text, { noLocation: true }).definitions);
const fragments = new Map(
  definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [])),
);
const operations = definitions.flatMap((node) => (node.kind === Kind.OPERATION_DEFINITION ? [node] : []));

/** The operation with the fragments that it needs, as the app sends it. */
function whole(operation: (typeof operations)[number]): string {
  const needed = new Set<FragmentDefinitionNode>();
  const collect = (node: typeof operation | FragmentDefinitionNode): void => {
    visit(node, {
      FragmentSpread: ({ name }) => {
        const fragment = fragments.get(name.value);
        if (!fragment || needed.has(fragment)) return;
        needed.add(fragment);
        collect(fragment);
      },
    });
  };
  collect(operation);
  return [operation, ...needed].map((node) => print(node)).join('\n');
}

describe('the documents of the dashboard', () => {
  it('are found', () => expect(operations.length).toBeGreaterThan(20));

  it.each(operations.map((operation) => [operation.name?.value ?? '', whole(operation)]))(
    '%s fits the schema and the limits of the service',
    (_, text) => {
      const document = parse(text, { maxTokens: DOCUMENT_LIMITS.tokens });
      expect(validate(schema, document, [...specifiedRules, limitDocument]).map(({ message }) => message)).toEqual([]);
    },
  );

  it('never ask for prompts on the feed', () => {
    const feed = operations.find(({ name }) => name?.value === 'TasksUpdated');
    expect(feed && whole(feed)).not.toMatch(/\binput\b/);
  });
});
