import { jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelsAddCommand } from './models-add.ts';
import { modelsImportCommand } from './models-import.ts';

const before = { ...process.env };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'darkroom-add-'));
  delete process.env['MODELS'];
  process.env['DATA_DIR'] = folder;
});
afterEach(() => {
  jest.restoreAllMocks();
  process.env = { ...before };
  rmSync(folder, { recursive: true });
});

async function run(command: 'add' | 'import', ...args: string[]): Promise<{ out: string; err: string }> {
  const printed = { out: '', err: '' };
  jest.spyOn(console, 'log').mockImplementation((text: string) => void (printed.out += `${text}\n`));
  jest.spyOn(console, 'error').mockImplementation((text: string) => void (printed.err += `${text}\n`));
  await (command === 'add' ? modelsAddCommand() : modelsImportCommand()).parseAsync(args, { from: 'user' });
  return printed;
}

it('says where the file is, and which service reads it', async () => {
  writeFileSync(join(folder, 'secret-key'), '');
  const { out, err } = await run('add', 'sdxl');
  expect(out).toContain(
    `Added ${folder}/models/sdxl.yaml.\nA running service reads it within 10 s, if its DATA_DIR is ${folder}.\n`,
  );
  expect(err).toBe('');
});

it('names the folder of MODELS where that is set', async () => {
  process.env['MODELS'] = join(folder, 'mine');
  const { out, err } = await run('add', 'sdxl');
  expect(out).toContain(`Added ${folder}/mine/sdxl.yaml.\n`);
  expect(out).toContain(`if its MODELS is ${folder}/mine.\n`);
  expect(err).toBe('');
});

it('warns when no service has left anything in DATA_DIR', async () => {
  const { err } = await run('add', 'sdxl', '--json');
  expect(err).toBe(
    `warning: ${folder} holds nothing but models. If your service runs already, its DATA_DIR is probably another.\n`,
  );
});

it('says the same of a workflow, and that no request can have its seed', async () => {
  const file = join(folder, 'graph.json');
  const text = { class_type: 'CLIPTextEncode', inputs: { text: 'a fox' } };
  const sampler = { class_type: 'KSampler', inputs: { seed: 1_125_899_906_842_624, positive: ['1', 0] } };
  writeFileSync(file, JSON.stringify({ 1: text, 2: sampler }));
  const { out } = await run('import', '--comfy', file, '--id', 'fox');
  expect(out).toContain(`Added ${folder}/models/fox.yaml, which takes `);
  expect(out).toContain(`if its DATA_DIR is ${folder}.\n`);
  expect(out).toContain('A request takes seeds up to 4294967295, so none can have the seed of the workflow.\n');
});
