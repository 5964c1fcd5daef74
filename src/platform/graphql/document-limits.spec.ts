import {
  buildSchema,
  getIntrospectionQuery,
  type OperationDefinitionNode,
  parse,
  print,
  specifiedRules,
  validate,
} from 'graphql';
import { DOCUMENT_LIMITS, excessOfLines, limitDocument } from './document-limits.ts';

const schema = buildSchema(`
  scalar JSON
  type Subscription { changed: Task! }
  type Query { tasks(first: Int = 20, after: String): Connection! task(taskId: String!): Task! me: Node! }
  type Connection { edges: [Edge!]! }
  type Edge { cursor: String! node: Task! }
  type Task { id: String! a: String b: String input: JSON! metadata: JSON outputs: [Output!] }
  type Output { url: String size: Int }
  type Node { node: Node! leaf: Int }
`);
const refusals = (query: string) =>
  validate(schema, parse(query, { maxTokens: DOCUMENT_LIMITS.tokens }), [...specifiedRules, limitDocument]).map(
    ({ message }) => message,
  );
const page = '{ edges { cursor node { id a b outputs { url size } } } }';

describe('the limits of a document', () => {
  it('accept useful queries and introspection', () => {
    expect(refusals(`{ tasks(first: 100) ${page} }`)).toEqual([]);
    expect(refusals(getIntrospectionQuery({ descriptions: true, inputValueDeprecation: true }))).toEqual([]);
  });

  it('count lines', () => {
    expect(excessOfLines('\n'.repeat(4_999))).toBeNull();
    expect(excessOfLines('\r\n'.repeat(4_999))).toBeNull();
    for (const end of ['\n', '\r', '\r\n']) {
      const excess = excessOfLines(end.repeat(5_000));
      expect(excess).toMatchObject({
        code: 'invalid_body',
        message: 'The document has too many lines; 5000 are allowed.',
      });
    }
  });

  it('count levels, including those of fragments', () => {
    const nested = (levels: number): string => (levels === 1 ? '{ leaf }' : `{ node ${nested(levels - 1)} }`);
    expect(refusals(`{ me ${nested(9)} }`)).toEqual([]);
    expect(refusals(`{ me ${nested(10)} }`)).toEqual(['The document is nested deeper than 10 levels.']);
    const within = `query { me { ...a } } fragment a on Node ${nested(5)} `.replace('leaf', '...b');
    expect(refusals(`${within} fragment b on Node ${nested(6)}`)).toEqual([
      'The document is nested deeper than 10 levels.',
    ]);
  });

  it('count aliases, directives and root fields', () => {
    const many = (count: number, field: (at: number) => string) =>
      `{ ${Array.from({ length: count }, (_, at) => field(at)).join(' ')} }`;
    expect(refusals(many(20, (at) => `x${at}: __typename`))).toEqual([]);
    expect(refusals(many(21, (at) => `x${at}: __typename`))).toEqual([
      'The document has too many root fields; 20 are allowed.',
    ]);
    expect(refusals(`{ me ${many(31, (at) => `x${at}: leaf`)} }`)).toEqual([
      'The document has too many aliases; 30 are allowed.',
    ]);
    expect(refusals(`{ me ${many(21, () => 'leaf @skip(if: false)')} }`)).toEqual([
      'The document has too many directives; 20 are allowed.',
    ]);
  });

  it('count the JSON values of a response and of a state, which may be large', () => {
    const inputs = (count: number) => Array.from({ length: count }, (_, at) => `x${at}: input`).join(' ');
    const pageOf = (fields: string) => `{ tasks(first: 100) { edges { node { ${fields} } } } }`;
    expect(refusals(pageOf('input metadata'))).toEqual([]);
    expect(refusals(pageOf(`${inputs(2)} metadata`))).toEqual([
      'The document asks for up to 300 JSON values at once, such as inputs; 200 are allowed. Ask for fewer fields or smaller pages.',
    ]);
    expect(refusals(`subscription { changed { ...one ...one } } fragment one on Task { ${inputs(1)} }`)).toEqual([]);
    expect(refusals(`subscription { changed { ${inputs(3)} } }`)).toEqual([
      expect.stringMatching(/3 JSON values at once, such as inputs; 2 are allowed/),
    ]);
  });

  it('count the values of the response: pages at their size, lists at an assumed size', () => {
    const expensive = (size: string) => `{ x: tasks(first: ${size}) ${page} y: tasks(first: ${size}) ${page} }`;
    expect(refusals(expensive('100'))).toEqual([]);
    const ten = Array.from({ length: 10 }, (_, at) => `x${at}: tasks(first: 100) ${page}`).join(' ');
    expect(refusals(`{ ${ten} }`)).toEqual([
      expect.stringMatching(/asks for up to 15010 values at once; 10000 are allowed/),
    ]);
    expect(refusals(`query ($first: Int) { ${ten.replaceAll('100', '$first')} }`)).toEqual([
      expect.stringMatching(/15010/),
    ]);
    expect(refusals(`{ ${ten.replaceAll('(first: 100)', '')} }`)).toEqual([]);
  });

  it('count what is asked of the schema: a document may ask twice for what tools ask', () => {
    const [operation, ...fragments] = parse(getIntrospectionQuery()).definitions;
    const asked = (times: number) => {
      const [root] = (operation as OperationDefinitionNode).selectionSet.selections;
      const roots = Array.from({ length: times }, (_, at) => `x${at}: ${print(root!)}`);
      return refusals(`{ ${roots.join(' ')} } ${fragments.map(print).join(' ')}`);
    };
    const tooMuch = [expect.stringMatching(/asks for up to \d+ values of the schema; \d+ are allowed/)];
    expect(asked(2)).toEqual([]);
    expect(asked(3)).toEqual(tooMuch);
    const deep = 'fields { name description type { name fields { name args { name type { name description } } } } }';
    const wide = Array.from({ length: 9 }, (_, at) => `x${at}: types { ${deep} }`).join(' ');
    expect(refusals(`{ __schema { ${wide} } }`)).toEqual(tooMuch);
    expect(refusals('{ a: __type(name: "Task") { name fields { name } } b: __type(name: "Node") { name } }')).toEqual(
      [],
    );
  });

  it('measure nested fragments in linear time, and stop at a recursive one', () => {
    const chain = Array.from(
      { length: 80 },
      (_, at) => `fragment f${at} on Node { ...f${at + 1} ...f${at + 1} leaf }`,
    ).join(' ');
    refusals(`{ me { ...f0 } } ${chain} fragment f80 on Node { leaf }`); // exponential time would never end
    expect(refusals('{ me { ...f } } fragment f on Node { node { ...f } }')).toEqual([
      expect.stringMatching(/within itself/),
    ]);
  });

  it('refuse NUL in texts, which the database cannot store', () => {
    expect(refusals('{ task(taskId: "a\\u0000") { id } }')).toEqual([expect.stringMatching(/NUL/)]);
  });

  it('count comments, of which the parser keeps each', () => {
    const commented = (comments: number) => refusals(`{ me { leaf } }${' # a "#"\n'.repeat(comments)}`);
    expect(commented(200)).toEqual([]);
    expect(commented(201)).toEqual(['The document has too many comments; 200 are allowed.']);
  });

  it('bound the tokens', () => {
    expect(() => refusals(`{ me { ${'leaf '.repeat(1_000)} } }`)).toThrow(/more that 1000 tokens/);
  });
});
