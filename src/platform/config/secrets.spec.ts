import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hkdfSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSecretKeys, readKeys, Secrets } from './secrets.ts';

describe('the secret key', () => {
  let parent: string;
  beforeEach(async () => (parent = await mkdtemp(join(tmpdir(), 'secrets-'))));
  afterEach(() => rm(parent, { recursive: true }));

  it('is the configured one, without writing a file', async () => {
    const [key, ...others] = await loadSecretKeys({ secretKey: 'ab'.repeat(32), dataDir: parent });
    expect(key.toString('hex')).toBe('ab'.repeat(32));
    expect(others).toEqual([]);
    expect(await readdir(parent)).toEqual([]);
  });

  it('is created once and kept, readable by its owner only', async () => {
    const dataDir = join(parent, 'new', 'data');
    const [made] = await loadSecretKeys({ secretKey: null, dataDir });
    expect(made).toHaveLength(32);
    expect(await loadSecretKeys({ secretKey: null, dataDir })).toEqual([made]);
    expect((await stat(join(dataDir, 'secret-key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dataDir, 'secret-key'), 'utf8')).toBe(`${made.toString('hex')}\n`);
  });

  it('is the same for all processes that start at once, and leaves no temporary file', async () => {
    const keys = await Promise.all(
      Array.from({ length: 20 }, () => loadSecretKeys({ secretKey: null, dataDir: join(parent, 'data') })),
    );
    expect(new Set(keys.map(([key]) => key.toString('hex'))).size).toBe(1);
    expect(await readdir(join(parent, 'data'))).toEqual(['secret-key']);
  });

  it('is never replaced if its file is damaged', async () => {
    await writeFile(join(parent, 'secret-key'), 'deadbeef');
    await expect(loadSecretKeys({ secretKey: null, dataDir: parent })).rejects.toThrow(/32 bytes in hex/);
    expect(await readFile(join(parent, 'secret-key'), 'utf8')).toBe('deadbeef');
  });

  it('derives a different key for every purpose', () => {
    const secretKey = Buffer.alloc(32, 7);
    const secrets = new Secrets([secretKey]);
    const expected = Buffer.from(hkdfSync('sha256', secretKey, '', 'darkroom/file-links', 32));
    expect(secrets.derive('file-links')).toEqual(expected);
    expect(secrets.derive('api-key-pepper')).not.toEqual(expected);
    expect(secrets.derive('webhook-secrets')).not.toEqual(expected);
  });

  it('rejects a key of another length', () => expect(() => new Secrets([Buffer.alloc(16)])).toThrow(/32 bytes/));

  it('may be several, of which the first makes what is new', () => {
    const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const secrets = new Secrets([second, first]);
    const alone = new Secrets([first]);
    expect(secrets.derive('file-links')).toEqual(new Secrets([second]).derive('file-links'));
    expect(secrets.deriveAll('file-links')[1]).toEqual(alone.derive('file-links'));
    expect(secrets.keyIds[1]).toBe(alone.keyId);
    expect(secrets.keyId).toMatch(/^[0-9a-f]{16}$/);
  });

  it('may be several in its file too', async () => {
    await writeFile(join(parent, 'secret-key'), `${'ab'.repeat(32)},\n${'CD'.repeat(32)}\n`);
    const keys = await loadSecretKeys({ secretKey: null, dataDir: parent });
    expect(keys.map((key) => key.toString('hex'))).toEqual(['ab'.repeat(32), 'cd'.repeat(32)]);
  });

  it.each([
    ['hunter2', 'must be 32 bytes in hex (64 characters)'],
    [`${'ab'.repeat(32)},`, 'must be 32 bytes in hex (64 characters), separated by commas, the newest first'],
    [`${'ab'.repeat(32)},${'AB'.repeat(32)}`, 'must have each key once'],
    [Array.from({ length: 6 }, (_, at) => `${at}f`.repeat(32)).join(), 'must have at most 5 keys, not 6'],
  ])('is refused as %s', (text, fault) => expect(() => readKeys(text)).toThrow(fault));
});
