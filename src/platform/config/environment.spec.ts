import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from './config.ts';
import { Environment } from './environment.ts';

describe('the file .env', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'darkroom-env-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = (bytes: Buffer): string => {
    const path = join(folder, '.env');
    writeFileSync(path, bytes);
    return path;
  };
  const LINES = 'FAL_KEY=first\r\nREPLICATE_API_TOKEN=söcond\r\n';
  const big = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

  it.each([
    ['UTF-8', Buffer.from(LINES)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${LINES}`)],
    ['UTF-16 of Windows', Buffer.from(`\ufeff${LINES}`, 'utf16le')],
    ['UTF-16, the other way round', big(`\ufeff${LINES}`)],
  ])('is read in %s', (_, bytes) => {
    const env = new Environment(file(bytes)).read();
    expect(env).toMatchObject({ FAL_KEY: 'first', REPLICATE_API_TOKEN: 'söcond' });
    expect(env).toMatchObject({ PATH: process.env.PATH });
  });

  it.each([
    ['UTF-16 without a mark', Buffer.from(LINES, 'utf16le')],
    ['Latin-1', Buffer.from(LINES, 'latin1')],
  ])('is refused in %s, which would be read as other values or none', (_, bytes) => {
    const path = file(bytes);
    expect(() => new Environment(path).read()).toThrow(`The file ${path} cannot be read (it is not UTF-8).`);
  });

  it('and the file of a secret are read alike', () => {
    const config = (bytes: Buffer) => loadConfig({ FAL_KEY_FILE: file(bytes) }).credentials.FAL_KEY;
    expect(config(Buffer.from('\ufeffhunter2\r\n', 'utf16le'))).toBe('hunter2');
    expect(() => config(Buffer.from('hunter2', 'utf16le'))).toThrow(
      `FAL_KEY_FILE: ${join(folder, '.env')} cannot be read (it is not UTF-8)`,
    );
  });
});
