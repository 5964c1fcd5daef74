import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { textOf } from '../../models/declaration/fault.ts';
import { ModelFolder } from '../../models/declaration/model-folder.ts';
import { readOpened } from '../../models/declaration/read-models.ts';
import { schemaText } from '../../models/declaration/schema-faults.ts';
import { YamlFile } from '../../models/declaration/yaml-file.ts';
import { ROOT_FOLDER } from '../../platform/config/root-folder.ts';
import { PROVIDER_NAMES } from './binding.ts';
import { checkBindings } from './check-bindings.ts';

const FOLDER = `${ROOT_FOLDER}test/support/declarations`;
const textIn = (name: string) => readFileSync(`${FOLDER}/${name}.yaml`, 'utf8');
const workflows = new Map([
  ['sdxl.json', { value: JSON.parse(readFileSync(`${FOLDER}/sdxl.json`, 'utf8')) as unknown }],
]);
const examples = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''));

function read(content: string | Buffer) {
  const file = new YamlFile('m.yaml', Buffer.from(content));
  return { file, model: readOpened(file, { declared: true, createdAt: 1, checkBindings, workflows }) };
}

const faultsOf = (content: string): string[] => read(content).file.faults.map((fault) => textOf(fault).slice(7));

const changed = (name: string, ...changes: [string, string][]) =>
  changes.reduce((text, [given, other]) => {
    expect(text).toContain(given);
    return text.replace(given, other);
  }, textIn(name));

/** The schema that `GET /schemas/model.json` serves. */
const fits = new Ajv2020({ strict: false }).compile(JSON.parse(schemaText()) as object);

it.each(examples)('%s loads', (name) => {
  expect(faultsOf(textIn(name))).toEqual([]);
  expect(fits(read(textIn(name)).file.value)).toBe(true);
});

it('names the providers that the schema names', () => {
  const { enum: named } = JSON.parse(schemaText()).$defs.binding.properties.provider as { enum: string[] };
  expect(named.toSorted()).toEqual([...PROVIDER_NAMES, 'http'].toSorted());
});

it.each([
  ['library', 8],
  ['builtin', 5],
])('loads models/%s, whose files fit the published schema', async (name, count) => {
  const folder = new ModelFolder(`${ROOT_FOLDER}models/${name}`, {
    createdAtOf: () => 0,
    taken: new Map(),
    checkBindings,
  });
  const { models, faults, files } = await folder.read();
  expect(faults).toEqual([]);
  expect(models).toHaveLength(count);
  for (const { file } of files) expect([file.name, fits(file.value), fits.errors]).toEqual([file.name, true, null]);
});

it('loads them together', async () => {
  const folder = new ModelFolder(FOLDER, { createdAtOf: () => 0, taken: new Map(), checkBindings });
  const { models, faults } = await folder.read();
  expect(faults).toEqual([]);
  expect(models.map(({ id }) => id)).toEqual(examples.toSorted());
});

it.each<[string, [string, string][], string | RegExp]>([
  [
    'qwen-image',
    [["    send: { num_inference_steps: '{{x_steps}}' }\n", '']],
    /bindings\[0\]: x_steps is not used by bindings\[0\] \(openai, vllm-omni\); put \{\{x_steps\}\} into send, or name it in approximate, or set when\.x_steps to absent$/,
  ],
  [
    'qwen-image',
    [['{{x_steps}}', '{{x_step}}']],
    /: bindings\[0\]\.send\.num_inference_steps: \{\{x_step\}\} is no parameter; did you mean x_steps\?$/,
  ],
  [
    'qwen-image',
    [['num_inference_steps:', 'size: 1, num_inference_steps:']],
    /: send\.size is sent by the dialect itself$/,
  ],
  [
    'qwen-image',
    [["'{{x_steps}}'", "'at {{strength}}'"]],
    /\{\{strength\}\} may be absent inside a longer text; give strength a default$/,
  ],
  [
    'qwen-image',
    [['base_urls:', 'base_url: http://gpu\n    base_urls:']],
    /base_url and base_urls exclude each other$/,
  ],
  ['kling-3', [['provider: fal\n', 'provider: fal\n    dialect: openai\n']], /dialect is only for provider openai$/],
  [
    'gpt-image-as-shipped',
    [['openai/gpt-image-2, credential: FAL', 'fal-ai/x, credential: FAL']],
    /provider fal has no translation of its own for "fal-ai\/x"; give send$/,
  ],
  ['gpt-image-as-shipped', [['credential: FAL_KEY', 'credential: SECRET_KEY']], /credential may not name SECRET_KEY$/],
  ...[
    'DATABASE_DIRECT_URL',
    'EVENTS_URL',
    'STORAGE_URL',
    'C2PA_KEY',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'PGPASSWORD',
    'AWS_SECRET_ACCESS_KEY',
    'SECRET_KEY_FILE',
  ].map((name): [string, [string, string][], string] => [
    'gpt-image-as-shipped',
    [['credential: FAL_KEY', `credential: ${name}`]],
    `credential may not name ${name}`,
  ]),
  [
    'gpt-image-as-shipped',
    [['when: { mask: absent, size: absent }', 'when: { foo: absent }']],
    /bindings\[2\]\.when\.foo: "foo" is not declared$/,
  ],
  ['gpt-image-as-shipped', [['approximate: [quality]', 'approximate: [foo]']], /"foo" is not declared$/],
  ['acme-film', [['      id: $.film.id\n', '']], /bindings\[0\]\.submit\.id: id is missing: poll needs it$/],
  ['acme-film', [['status: $.state,', '']], /bindings\[0\]\.poll: poll needs status and done$/],
  ['acme-film', [['    outputs: $.files[*].url\n', '']], /outputs is missing$/],
  [
    'acme-film',
    [["'X-Api-Key: {{key}}'", "'X-Api-Key: sk-0123456789'"]],
    /auth: looks like a key; name an environment variable in credential$/,
  ],
  ['acme-film', [["'X-Api-Key: {{key}}'", "'Host {{key}}'"]], /auth must be a header such as/],
  ['acme-film', [['path: /films\n', 'path: /films\n      headers: { Host: a }\n']], /Host may not be set$/],
  [
    'acme-film',
    [['path: /films\n', 'path: /films\n      headers: { X-Shop: café }\n']],
    /submit\.headers\.X-Shop: a header holds printable ASCII in one line$/,
  ],
  [
    'acme-film',
    [["seed: '{{seed}}', ", '']],
    /seed is not used by bindings\[0\] \(http\); put \{\{seed\}\} into submit/,
  ],
  [
    'acme-film',
    [["'16:9': landscape", "'4:3': landscape"]],
    /bindings\[0\]\.map\.aspect_ratio\.4:3: "4:3" is not one of 16:9, 9:16$/,
  ],
])('names what is wrong in %s after %j', (name, changes, fault) => {
  expect(faultsOf(changed(name, ...changes)).join('\n')).toMatch(fault);
});

it.each([
  [
    "[{ provider: openai, per_task: '1.1234567' }]",
    /prices\[0\]\.per_task: per_task must be a decimal from 0 to 1000000/,
  ],
  ["[{ provider: fal, per_task: '1' }]", /provider must be one of openai, not "fal"/],
  ['[{ provider: openai }]', /a price needs at least one of per_task/],
  ['[{ colour: red, per_task: 1 }]', /unknown field "colour"; known are provider, upstream_model/],
  ["[{ resolution: 4K, per_task: '1' }]", /resolution must be one of , not "4K"/],
])('names what is wrong in the prices %s', (prices, fault) => {
  expect(faultsOf(changed('qwen-image', ["[{ provider: openai, per_task: '0' }]", prices])).join('\n')).toMatch(fault);
});

/** The short form draws the same files in every run. */
const RUNS = process.env.DARKROOM_TEST_LONG === '1' ? { numRuns: 5000 } : { numRuns: 300, seed: 1 };
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ':',
  '- ',
  '\n',
  "'",
  '"',
  '{{',
  '}}',
  '&a ',
  '*a',
  '!!str ',
  '#',
  '0',
  'null',
  '~',
  '\t',
  '  ',
  '👾',
];

it('loads or refuses any file, with a place, and never crashes', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...examples),
      fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(40), fc.constantFrom('', ...PIECES)), {
        minLength: 1,
        maxLength: 4,
      }),
      (name, cuts) => {
        let text = textIn(name);
        for (const [share, length, piece] of cuts) {
          const at = Math.floor(share * text.length);
          text = text.slice(0, at) + piece + text.slice(at + (piece === '' ? length : 0));
        }
        const { file, model } = read(text);
        if (model === null) expect(file.faults.length).toBeGreaterThan(0);
        else expect(file.faults).toEqual([]);
        for (const { line, column, path, message } of file.faults) {
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
          expect(path).not.toBe('');
          expect(message.length).toBeLessThan(2000);
        }
      },
    ),
    RUNS,
  );
});
