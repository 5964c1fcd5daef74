import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskStorage } from './disk.storage.ts';
import { StoredFileMissing } from './storage.ts';

let root: string;
let storage: DiskStorage;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'darkroom-disk-'));
  storage = new DiskStorage(join(root, 'files'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function textOf(key: string, range?: { start: number; end: number }): Promise<string> {
  return Buffer.concat(await (await storage.open(key, range)).toArray()).toString();
}

describe('storage on disk', () => {
  it('returns the stored bytes, whole or as a range', async () => {
    await storage.put('task_a/1-0.png', Buffer.from('0123456789'));
    expect(await storage.size('task_a/1-0.png')).toBe(10);
    expect(await textOf('task_a/1-0.png')).toBe('0123456789');
    expect(await textOf('task_a/1-0.png', { start: 2, end: 4 })).toBe('234');
  });

  it('stores a file and leaves the source in place', async () => {
    const path = join(root, 'video');
    await writeFile(path, 'frames');
    await chmod(path, 0o444);
    await storage.put('task_a/1-0.mp4', { path });
    await storage.put('task_a/1-0.mp4', { path });
    expect(await textOf('task_a/1-0.mp4')).toBe('frames');
    expect((await stat(path)).size).toBe(6);
  });

  it('makes files and folders accessible to this user only', async () => {
    await storage.put('task_a/1-0.png', Buffer.from('x'));
    const path = join(root, 'video');
    await writeFile(path, 'frames', { mode: 0o644 });
    await storage.put('task_a/1-1.mp4', { path });
    const modes = ['', 'task_a', 'task_a/1-0.png', 'task_a/1-1.mp4'].map(async (name) => {
      return ((await stat(join(root, 'files', name))).mode & 0o777).toString(8);
    });
    expect(await Promise.all(modes)).toEqual(['700', '700', '600', '600']);
  });

  it('replaces what was put before, however long it was', async () => {
    await storage.put('task_a/1-0.png', Buffer.from('0123456789'));
    await storage.put('task_a/1-0.png', Buffer.from('abc'));
    expect(await textOf('task_a/1-0.png')).toBe('abc');
  });

  it('shows a file that is put atomically only as a whole, also while it replaces another', async () => {
    const large = { path: join(root, 'large') };
    await writeFile(large.path, Buffer.alloc(8_000_000, 'a'));
    const lengths = new Set<number>();
    const done = new AbortController();
    const reading = (async () => {
      while (!done.signal.aborted) lengths.add(await storage.size('task_a/preview.webp').catch(() => 0));
    })();
    for (let round = 0; round < 3; round++) {
      await storage.putAtomically('task_a/preview.webp', large);
      await storage.putAtomically('task_a/preview.webp', Buffer.alloc(5, 'b'));
    }
    done.abort();
    await reading;
    expect([...lengths].filter((length) => ![0, 5, 8_000_000].includes(length))).toEqual([]);
    await expect(storage.putAtomically('task_a/absent.webp', { path: join(root, 'absent') })).rejects.toThrow('ENOENT');
    expect(await readdir(join(root, 'files/task_a'))).toEqual(['preview.webp']);
    expect((await stat(join(root, 'files/task_a/preview.webp'))).mode & 0o777).toBe(0o600);
  });

  it('leaves nothing behind when a put fails', async () => {
    await storage.put('task_a/1-0.png', Buffer.from('x'));
    await expect(storage.put('task_a/1-1.mp4', { path: join(root, 'absent') })).rejects.toThrow('ENOENT');
    expect(await readdir(join(root, 'files/task_a'))).toEqual(['1-0.png']);
  });

  it('reports a missing file before it returns a stream', async () => {
    await expect(storage.open('task_a/1-0.png')).rejects.toThrow(StoredFileMissing);
    await expect(storage.size('task_a/1-0.png')).rejects.toThrow(StoredFileMissing);
  });

  it('deletes a folder and nothing else', async () => {
    for (const key of ['task_a/1-0.png', 'task_a/1-1.png', 'task_ab/1-0.png']) await storage.put(key, Buffer.from('x'));
    await storage.deleteAll('task_a/');
    await storage.deleteAll('task_a');
    expect(await readdir(join(root, 'files'))).toEqual(['task_ab']);
  });

  it.each([
    '',
    '/',
    '..',
    '../x',
    'a/../b',
    '/etc/passwd',
    'a//b',
    'a/',
    '.hidden',
    'a/.b',
    'a\\b',
    'a\0b',
    'ä',
    'x'.repeat(513),
  ])('rejects %j as a key', async (key) => {
    await expect(storage.put(key, Buffer.from('x'))).rejects.toThrow('Not a storage key');
    await expect(storage.open(key)).rejects.toThrow('Not a storage key');
    if (key !== 'a/') await expect(storage.deleteAll(key)).rejects.toThrow('Not a storage key');
  });

  it('is ready only when it can write', async () => {
    await storage.ready();
    await Promise.all([storage.ready(), storage.ready()]);
    await writeFile(join(root, 'plain'), '');
    await expect(new DiskStorage(join(root, 'plain')).ready()).rejects.toThrow();
  });
});
