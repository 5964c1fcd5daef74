import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hkdfSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSecretKey, Secrets } from './secrets.ts';

describe('the secret key', () => {
  let parent: string;
  beforeEach(async () => (parent = await mkdtemp(join(tmpdir(), 'secrets-'))));
  afterEach(() => rm(parent, { recursive: true }));

  it('is the configured one, without writing a file', async () => {
    const key = await loadSecretKey({ secretKey: 'ab'.repeat(32), dataDir: parent });
    expect(key.toString('hex')).toBe('ab'.repeat(32));
    expect(await readdir(parent)).toEqual([]);
  });

  it('is created once and kept, readable by its owner only', async () => {
    const dataDir = join(parent, 'new', 'data');
    const made = await loadSecretKey({ secretKey: null, dataDir });
    expect(made).toHaveLength(32);
    expect(await loadSecretKey({ secretKey: null, dataDir })).toEqual(made);
    expect((await stat(join(dataDir, 'secret-key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dataDir, 'secret-key'), 'utf8')).toBe(`${made.toString('hex')}\n`);
  });

  it('is the same for all processes that start at once, and leaves no temporary file', async () => {
    const keys = await Promise.all(
      Array.from({ length: 20 }, () => loadSecretKey({ secretKey: null, dataDir: join(parent, 'data') })),
    );
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(await readdir(join(parent, 'data'))).toEqual(['secret-key']);
  });

  it('is never replaced if its file is damaged', async () => {
    await writeFile(join(parent, 'secret-key'), 'deadbeef');
    await expect(loadSecretKey({ secretKey: null, dataDir: parent })).rejects.toThrow(/32 bytes in hex/);
    expect(await readFile(join(parent, 'secret-key'), 'utf8')).toBe('deadbeef');
  });

  it('derives a different key for every purpose', () => {
    const secretKey = Buffer.alloc(32, 7);
    const secrets = new Secrets(secretKey);
    const expected = Buffer.from(hkdfSync('sha256', secretKey, '', 'darkroom/file-links', 32));
    expect(secrets.derive('file-links')).toEqual(expected);
    expect(secrets.derive('api-key-pepper')).not.toEqual(expected);
    expect(secrets.derive('webhook-secrets')).not.toEqual(expected);
  });

  it('rejects a key of another length', () => expect(() => new Secrets(Buffer.alloc(16))).toThrow(/32 bytes/));
});
