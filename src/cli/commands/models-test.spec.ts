import { jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalog } from '../../models/catalog.ts';
import { modelsTestCommand } from './models-test.ts';

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const MODEL = `
kind: image
description: A model.
parameters:
  prompt: {}
  reference_images: {}
  size: { default: 64x48 }
  n: { maximum: 3 }
sizes: { pixels: { max_side: 128 } }
bindings: [{ provider: sandbox }]
`;

const folder = mkdtempSync(join(tmpdir(), 'darkroom-models-test-'));
const before = process.env['MODELS'];
beforeAll(() => {
  process.env['MODELS'] = folder;
  writeFileSync(join(folder, 'usual.yaml'), `id: usual${MODEL}`);
  writeFileSync(
    join(folder, 'tested.yaml'),
    `id: tested${MODEL}tests:
  - { name: two, input: { prompt: a fox, n: 2, size: 96x32 }, expect: { outputs: 2, width: 96, height: 32 } }
  - { input: { prompt: a fox, output_format: jpeg }, expect: { content_type: image/jpeg } }
  - { name: refused, input: { prompt: a fox, n: 9 }, expect: { error: value_out_of_range } }
  - { name: image, input: { prompt: a fox, reference_images: ['${PNG}'] } }
`,
  );
  writeFileSync(
    join(folder, 'wrong.yaml'),
    `id: wrong${MODEL}tests:
  - { name: size, input: { prompt: a fox }, expect: { width: 65, outputs: 1 } }
  - { name: policy, input: { prompt: 'a fox #fail:content_policy_violation' } }
`,
  );
});
afterAll(() => {
  catalog.declare([]);
  if (before === undefined) delete process.env['MODELS'];
  else process.env['MODELS'] = before;
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  process.exitCode = undefined;
  jest.restoreAllMocks();
});

async function tested(...args: string[]): Promise<string[]> {
  const lines: string[] = [];
  jest.spyOn(console, 'log').mockImplementation((text: string) => void lines.push(text));
  await modelsTestCommand().parseAsync(args, { from: 'user' });
  return lines;
}

it('makes the tests of a model in the sandbox, or one of a prompt', async () => {
  expect(await tested('tested', 'usual')).toEqual([
    'ok    tested  two',
    'ok    tested  tests[1]',
    'ok    tested  refused',
    'ok    tested  image',
    'ok    usual  a prompt',
  ]);
  expect(process.exitCode).toBeUndefined();
});

it('says why a test fails', async () => {
  expect(await tested('wrong')).toEqual([
    'FAIL  wrong  size  width 64, not 65',
    'FAIL  wrong  policy  error content_policy_violation',
  ]);
  expect(process.exitCode).toBe(1);
});

it('prints JSON for machines', async () => {
  const [json] = await tested('usual', '--json');
  expect(JSON.parse(json!)).toEqual({ tests: [{ model: 'usual', name: 'a prompt', ok: true, reasons: [] }] });
});

it('knows no other ids', async () => {
  await expect(tested('unknown')).rejects.toThrow('There is no model unknown.');
});
