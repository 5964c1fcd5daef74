import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { packPython } from '../../scripts/pack-python.ts';

const root = new URL('../../', import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const INFO = `darkroom_client-${version}.dist-info`;
const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

describe('the wheel of the Python client', () => {
  it('has the version of the service in its name, its metadata and the documents', async () => {
    const { name, bytes } = await packPython(root);
    expect(name).toBe(`darkroom_client-${version}-py3-none-any.whl`);
    expect(text(unzipSync(bytes)[`${INFO}/METADATA`])).toMatch(
      new RegExp(`^Metadata-Version: 2.4\nName: darkroom-client\nVersion: ${version}\n`),
    );
    for (const path of ['docs/guides/python.md', 'packages/python/README.md'])
      expect(readFileSync(join(root, path), 'utf8')).toContain(`/python/${name}`);
  });

  it('has the same bytes whenever it is made', async () => {
    const [one, other] = [await packPython(root), await packPython(root)];
    expect(Buffer.from(other.bytes).equals(Buffer.from(one.bytes))).toBe(true);
    // MS-DOS time and date of the first entry: 1 January 1980.
    expect(Buffer.from(one.bytes).readUInt32LE(10)).toBe(0x00210000);
  });

  it('records each of its files with hash and size', async () => {
    const files = unzipSync((await packPython(root)).bytes);
    const expected = Object.entries(files).map(([path, bytes]) =>
      path.endsWith('/RECORD')
        ? `${path},,`
        : `${path},sha256=${createHash('sha256').update(bytes).digest('base64url')},${bytes.length}`,
    );
    expect(text(files[`${INFO}/RECORD`]).trim().split('\n')).toEqual(expected);
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining(['darkroom_client/__init__.py', 'darkroom_client/py.typed', 'darkroom_client/types.py']),
    );
  });

  it('needs nothing but Python', async () => {
    const files = unzipSync((await packPython(root)).bytes);
    expect(text(files[`${INFO}/METADATA`])).not.toContain('Requires-Dist');
  });
});
