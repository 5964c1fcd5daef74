// Packs packages/python as a wheel into dist/python, which the service serves at /python/. Each build runs this. A
// wheel is a zip with three files of metadata, so this needs no Python. The same sources give the same bytes.
import { type Zippable, zipSync } from 'fflate';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';

interface Project {
  name: string;
  version: string;
  description: string;
  'requires-python': string;
  license: string;
  keywords: string[];
  classifiers: string[];
}

/** The earliest time that a zip can have. Zip has local times. */
const NO_TIME = new Date(1980, 0, 1);
const FILE_MODE = 0o100644;
const UNIX = 3;

/** @returns the name of the wheel and its bytes */
export async function packPython(root: string): Promise<{ name: string; bytes: Uint8Array }> {
  const folder = join(root, 'packages/python');
  const text = async (path: string) => (await readFile(join(folder, path), 'utf8')).replaceAll('\r\n', '\n');
  const project = parse(await text('pyproject.toml'))['project'] as unknown as Project;
  const stem = `${project.name.replaceAll('-', '_')}-${project.version}`;
  const info = `${stem}.dist-info`;

  const files: Record<string, string> = {};
  for (const path of globSync('darkroom_client/*{.py,py.typed}', { cwd: join(folder, 'src') }).sort())
    files[path.replaceAll('\\', '/')] = await text(join('src', path));
  files[`${info}/METADATA`] = metadata(project, await text('README.md'));
  files[`${info}/WHEEL`] = 'Wheel-Version: 1.0\nGenerator: darkroom\nRoot-Is-Purelib: true\nTag: py3-none-any\n';
  files[`${info}/licenses/LICENSE`] = await text('LICENSE');
  files[`${info}/RECORD`] = `${Object.entries(files).map(record).join('\n')}\n${info}/RECORD,,\n`;

  const entries = Object.entries(files).map(([path, content]) => [path, [Buffer.from(content), {}]]);
  const options = { mtime: NO_TIME, os: UNIX, attrs: FILE_MODE * 2 ** 16 };
  return { name: `${stem}-py3-none-any.whl`, bytes: zipSync(Object.fromEntries(entries) as Zippable, options) };
}

/** Writes the wheel, and removes wheels of other versions. */
export async function buildPython(root: string): Promise<void> {
  const { name, bytes } = await packPython(root);
  const folder = join(root, 'dist/python');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), bytes);
}

function metadata(project: Project, readme: string): string {
  const fields = [
    ['Metadata-Version', '2.4'],
    ['Name', project.name],
    ['Version', project.version],
    ['Summary', project.description],
    ['License-Expression', project.license],
    ['License-File', 'LICENSE'],
    ['Keywords', project.keywords.join(',')],
    ...project.classifiers.map((classifier) => ['Classifier', classifier]),
    ['Requires-Python', project['requires-python']],
    ['Description-Content-Type', 'text/markdown'],
  ];
  return `${fields.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${readme}`;
}

function record([path, content]: [string, string]): string {
  const hash = createHash('sha256').update(content).digest('base64url');
  return `${path},sha256=${hash},${Buffer.byteLength(content)}`;
}
