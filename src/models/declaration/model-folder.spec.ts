import { jest } from '@jest/globals';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from './fault.ts';
import { ModelFolder, nameOfSet } from './model-folder.ts';
import { MAX_FILE_BYTES } from './read-models.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'darkroom-models-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const model = (id: string, more = '', binding = '{ provider: sandbox }') => `id: ${id}
kind: image
description: A model.
parameters: { prompt: {} }
sizes: { table: { columns: [1K], rows: { '1:1': [1024x1024] } } }
bindings: [${binding}]
${more}`;

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const opened = () =>
  new ModelFolder(folder, {
    createdAtOf: () => 7,
    taken: new Map([
      ['gpt-image-2', 'a built-in model'],
      ['dall-e-3', 'OPENAI_MODEL_ALIASES'],
    ]),
    checkBindings: () => undefined,
  });

async function faultsOf(files: Record<string, string>): Promise<string[]> {
  write(files);
  return (await opened().read()).faults.map((fault) => textOf(fault).replaceAll(`${folder}/`, ''));
}

describe('a folder of declarations', () => {
  it('has one model a file, by id, whatever the files are called', async () => {
    write({
      'z.yaml': model('a'),
      'y.yml': model('c'),
      'x.json': JSON.stringify({ ...PLAIN, id: 'b' }),
      'readme.md': 'x',
      '.hidden.yaml': 'x',
      'below/w.yaml': 'x',
    });
    const { models, faults, files } = await opened().read();
    expect(faults).toEqual([]);
    expect(models.map(({ id, file, created, declared }) => [id, file, created, declared])).toEqual([
      ['a', 'z.yaml', 7, true],
      ['b', 'x.json', 7, true],
      ['c', 'y.yml', 7, true],
    ]);
    expect(files).toHaveLength(3);
    expect(nameOfSet(models)).toMatch(/^[0-9a-f]{12}$/);
    expect(nameOfSet(models.toReversed())).toBe(nameOfSet(models));
  });

  it('may hold links to its own files, as Kubernetes mounts them, and ignores those that lead out', async () => {
    write({ '..2026/a.yaml': model('a') });
    symlinkSync('..2026', join(folder, '..data'));
    symlinkSync('..data/a.yaml', join(folder, 'a.yaml'));
    symlinkSync('/etc/hostname', join(folder, 'b.yaml'));
    symlinkSync('nowhere.yaml', join(folder, 'c.yaml'));
    expect((await opened().read()).models.map(({ id }) => id)).toEqual(['a']);
  });

  it('takes a JSON file that a binding names for its workflow', async () => {
    const binding = '{ provider: comfyui, workflow: flux.json }';
    write({ 'a.yaml': model('a', '', binding), 'flux.json': '{"1":{"class_type":"X","inputs":{}}}' });
    const { models } = await opened().read();
    expect(models[0]!.workflows.get('flux.json')).toEqual({ 1: { class_type: 'X', inputs: {} } });
    write({ 'flux.json': '{"1":{"class_type":"Y","inputs":{}}}' });
    expect((await opened().read()).models[0]!.version).not.toBe(models[0]!.version);
  });

  it.each([
    ['../flux.json', 'is outside the folder'],
    ['none.json', 'cannot be read (ENOENT)'],
    ['bad.json', 'is no JSON'],
    ['out.json', 'is outside the folder'],
  ])('refuses the workflow %s', async (workflow, message) => {
    symlinkSync('/etc/hostname', join(folder, 'out.json'));
    const faults = await faultsOf({
      'bad.json': '{',
      'a.yaml': model('a', '', `{ provider: comfyui, workflow: ${workflow} }`),
    });
    expect(faults).toContain(`a.yaml:6:43: bindings[0].workflow: workflow "${workflow}" ${message}`);
  });

  it('tells all faults of all files at once', async () => {
    const faults = await faultsOf({
      'a.yaml': model('same'),
      'b.yaml': model('same', 'aliases: [c, dall-e-3, x]'),
      'c.yaml': model('c', 'aliases: [x]\nlifecycle: { replacement: gone }'),
      'd.yaml': model('gpt-image-2'),
      'e.yaml': model('check'),
      'f.yaml': model('f').replace('image', 'picture'),
      'g.yaml': '- [',
    });
    expect(faults).toEqual([
      'a.yaml:1:5: id: id "same" is also in b.yaml',
      'b.yaml:1:5: id: id "same" is also in a.yaml',
      'b.yaml:7:11: aliases[0]: alias "c" is also an id',
      'b.yaml:7:14: aliases[1]: alias "dall-e-3" belongs to OPENAI_MODEL_ALIASES',
      'b.yaml:7:24: aliases[2]: alias "x" is also in c.yaml',
      'c.yaml:7:11: aliases[0]: alias "x" is also in b.yaml',
      'c.yaml:8:27: lifecycle.replacement: replacement "gone" is no model',
      'd.yaml:1:5: id: id "gpt-image-2" belongs to a built-in model',
      'e.yaml:1:5: id: id "check" is a command: npx darkroom models check',
      'f.yaml:2:7: kind: kind "picture" is not allowed; allowed are image, video',
      expect.stringMatching(/^g\.yaml:1:\d+: file: /),
    ]);
  });

  it('has its bounds', async () => {
    write({ 'a.yaml': '' });
    truncateSync(join(folder, 'a.yaml'), MAX_FILE_BYTES + 1);
    expect(await faultsOf({})).toEqual(['a.yaml:1:1: file: is 262145 bytes, at most 262144']);
    for (let at = 0; at < 500; at++) writeFileSync(join(folder, `${at}.yaml`), '');
    expect((await opened().read()).faults).toMatchObject([{ message: 'has 501 files, at most 500' }]);
  });

  it('has a bound for all files together', async () => {
    for (let at = 0; at < 129; at++) writeFileSync(join(folder, `${at}.yaml`), '#'.repeat(MAX_FILE_BYTES));
    const bytes = 129 * MAX_FILE_BYTES;
    expect((await opened().read()).faults).toMatchObject([{ message: `has ${bytes} bytes, at most 33554432` }]);
  });

  it('has a bound for a workflow', async () => {
    write({ 'a.yaml': model('a', '', '{ provider: comfyui, workflow: big.json }'), 'big.json': '' });
    truncateSync(join(folder, 'big.json'), 2_097_153);
    expect(await faultsOf({})).toEqual([
      'a.yaml:6:43: bindings[0].workflow: workflow "big.json" is 2097153 bytes, at most 2097152',
    ]);
  });

  it('is read again when it has changed meanwhile, so that no set is half of the next one', async () => {
    write({ 'a.yaml': model('a'), 'b.yaml': model('b') });
    const same = opened();
    const before = await same.stamp();
    let more = 0;
    const whole = same.read.bind(same);
    jest.spyOn(same, 'read').mockImplementation(async () => {
      const read = await whole();
      if (more > 0) write({ 'b.yaml': model('b', `aliases: [b${'x'.repeat(more--)}]`) });
      return read;
    });
    more = 1;
    expect((await same.readWhole(before))!.models[1]!.aliases).toEqual(['bx']);
    more = 9;
    expect(await same.readWhole(await same.stamp())).toBeNull();
  });

  it('keeps the models of files that have not changed, and reads the others again', async () => {
    write({ 'a.yaml': model('a'), 'b.yaml': model('b') });
    const same = opened();
    const [a, b] = (await same.read()).models;
    const stamp = await same.stamp();
    expect(await same.stamp()).toBe(stamp);
    write({ 'new.txt': model('b', 'access: listed') });
    renameSync(join(folder, 'new.txt'), join(folder, 'b.yaml'));
    expect(await same.stamp()).not.toBe(stamp);
    const after = (await same.read()).models;
    expect(after[0]).toBe(a);
    expect(after[1]).not.toBe(b);
    expect(after[1]).toMatchObject({ id: 'b', isListed: true });
  });

  it('is whole again once a fault is mended', async () => {
    write({ 'a.yaml': model('a'), 'b.yaml': model('a') });
    const same = opened();
    expect((await same.read()).faults).toHaveLength(2);
    write({ 'b.yaml': model('bb') });
    expect((await same.read()).models.map(({ id }) => id)).toEqual(['a', 'bb']);
  });
});

const PLAIN = {
  kind: 'image',
  description: 'A model.',
  parameters: { prompt: {} },
  sizes: { table: { columns: ['1K'], rows: { '1:1': ['1024x1024'] } } },
  bindings: [{ provider: 'sandbox' }],
};
