import { jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT_FOLDER } from '../../platform/config/root-folder.ts';
import { modelsCheckCommand } from './models-check.ts';

const EXAMPLES = `${ROOT_FOLDER}test/support/declarations`;
const folder = mkdtempSync(join(tmpdir(), 'darkroom-check-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  process.exitCode = undefined;
  jest.restoreAllMocks();
});

async function check(...args: string[]): Promise<string> {
  let printed = '';
  jest.spyOn(console, 'log').mockImplementation((text: string) => {
    printed += `${text}\n`;
  });
  await modelsCheckCommand().parseAsync(args, { from: 'user' });
  return printed;
}

it('says of each file what it declares', async () => {
  const lines = (await check(EXAMPLES)).trim().split('\n');
  expect(lines[0]).toMatch(/^ok {4}acme-film\.yaml {2}acme-film {2}video {2}1 binding {2}version [0-9a-f]{12}$/);
  expect(lines.at(-1)).toBe('6 files, 0 faults');
  expect(process.exitCode).toBeUndefined();
});

it('finds nothing wrong in the library', async () => {
  const lines = (await check(`${ROOT_FOLDER}models/library`)).trim().split('\n');
  expect(lines.at(-1)).toBe('8 files, 0 faults');
  expect(lines.slice(0, -1).filter((line) => !line.startsWith('ok '))).toEqual([]);
});

it('says what is wrong, and where', async () => {
  const file = join(folder, 'a.yaml');
  writeFileSync(file, 'id: a\nkind: movie\ndescription: x\n');
  const printed = await check(file, join(folder, 'none.yaml'));
  expect(printed).toContain(`${file}:2:7: kind: kind "movie" is not allowed; allowed are image, video\n`);
  expect(printed).toContain(`${file}:1:1: bindings: bindings is missing\n`);
  expect(printed).toContain('none.yaml:1:1: file: cannot be read (ENOENT)\n');
  expect(printed).toMatch(/2 files, 5 faults\n$/);
  expect(process.exitCode).toBe(1);
});

it('prints JSON for machines', async () => {
  const { files, faults } = JSON.parse(await check(`${EXAMPLES}/qwen-image.yaml`, '--json'));
  expect(files).toEqual([
    {
      file: expect.stringMatching(/qwen-image\.yaml$/),
      id: 'qwen-image',
      version: expect.stringMatching(/^[0-9a-f]{12}$/),
      faults: [],
    },
  ]);
  expect(faults).toBe(0);
});
