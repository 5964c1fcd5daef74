import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readOpened } from '../../src/models/declaration/read-models.ts';
import { YamlFile } from '../../src/models/declaration/yaml-file.ts';
import { checkBindings } from '../../src/providers/bindings/check-bindings.ts';

const COUNT = 5_000;
const FOLDERS = ['models/builtin', 'models/library', 'test/support/declarations'];
const namesIn = (ending: string) =>
  FOLDERS.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name)),
  );
const ORIGINALS = namesIn('.yaml').map((name) => ({ name, text: readFileSync(name, 'latin1') }));
const WORKFLOWS = new Map(
  namesIn('.json').map((name) => [basename(name), { value: JSON.parse(readFileSync(name, 'utf8')) as unknown }]),
);
const PIECES = [
  '&a ',
  '*a',
  '<<: ',
  '!!js/function ',
  '\0',
  '---\n',
  '"',
  "'",
  '{',
  '}',
  '[',
  ']',
  ': ',
  '\n',
  '\t',
  '- ',
  '|',
  '>',

  '? ',
  '#',
  '%YAML 1.1\n',
  '{{',
  '}}',
  '{{x_steps}}',
  '1e999',
  '-1',
  '.nan',
  '99999999999999999999',
  'null',
  'true',

  '\xff',
  '__proto__: 1\n',
  'constructor: {}\n',
  '../',
  '$',
  '0x1f',
  'x'.repeat(5_000),
  '{'.repeat(300),
  '['.repeat(2_000),
];

/** The same numbers in every run, so that a failure can be repeated. */
function numbersBelow(): (limit: number) => number {
  let state = 1;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function mutated(text: string, below: (limit: number) => number): string {
  const from = below(text.length + 1);
  const to = Math.min(text.length, from + below(30));
  const lines = text.split('\n');
  const [one, other] = [below(lines.length), below(lines.length)];
  const ways: (() => string)[] = [
    () => text.slice(0, from) + text.slice(to),
    () => text.slice(0, from) + PIECES[below(PIECES.length)]! + text.slice(from),
    () => text.slice(0, from) + String.fromCharCode(below(256)) + text.slice(from + 1),
    () => text.slice(0, from) + text.slice(from, to).repeat(1 + below(20)) + text.slice(to),
    () => lines.toSpliced(one, 0, lines[other]!).join('\n'),
    () => lines.toSpliced(one, 1).join('\n'),
    () => lines.with(one, lines[other]!).with(other, lines[one]!).join('\n'),
  ];
  return ways[below(ways.length)]!();
}

it(`loads each of ${COUNT} mutated declarations, or refuses it with file, line and column`, () => {
  const below = numbersBelow();
  const wrong: unknown[] = [];
  let [loaded, refused] = [0, 0];
  for (let nth = 0; nth < COUNT; nth += 1) {
    const { name, text: original } = ORIGINALS[nth % ORIGINALS.length]!;
    let text = original;
    for (let times = 1 + below(4); times > 0; times -= 1) text = mutated(text, below);
    const file = new YamlFile(basename(name), Buffer.from(text, 'latin1'));
    try {
      const model = readOpened(file, { declared: true, createdAt: 0, checkBindings, workflows: WORKFLOWS });
      const arePlaced = file.faults.every(
        (fault) => fault.file === basename(name) && fault.line > 0 && fault.column > 0,
      );
      if ((model === null) !== file.faults.length > 0 || !arePlaced) wrong.push([nth, name, file.faults]);
      if (model) loaded += 1;
      else refused += 1;
    } catch (error) {
      wrong.push([nth, name, error]);
    }
  }
  expect(wrong).toEqual([]);
  expect(Math.min(loaded, refused)).toBeGreaterThan(COUNT / 20);
});
