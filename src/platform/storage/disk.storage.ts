import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { checkKey, checkPrefix, StoredFileMissing, type ByteRange, type Storage, type StorageBody } from './storage.ts';

/** Files in a directory of this machine, readable by this user alone. */
export class DiskStorage implements Storage {
  constructor(private readonly root: string) {}

  async put(key: string, body: StorageBody): Promise<void> {
    const target = join(this.root, checkKey(key));
    const folder = dirname(target);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Beside the target, so that the rename stays in one file system; a leftover goes with its folder.
    const draft = join(folder, `.${basename(target)}.${randomUUID()}`);
    try {
      if (!Buffer.isBuffer(body)) {
        await copyFile(body.path, draft, constants.COPYFILE_FICLONE);
        await chmod(draft, 0o600); // a copy takes over the mode, which may not even let us open it
      }
      const file = await open(draft, Buffer.isBuffer(body) ? 'wx' : 'r+', 0o600);
      try {
        if (Buffer.isBuffer(body)) await file.writeFile(body);
        await file.sync(); // the record will say "succeeded" durably, so the bytes must outlive a power cut too
      } finally {
        await file.close();
      }
      await rename(draft, target);
      await syncFolder(folder);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    const file = await open(join(this.root, checkKey(key)), 'r').catch((error) => missing(key, error));
    return file.createReadStream(range);
  }

  async size(key: string): Promise<number> {
    return (await stat(join(this.root, checkKey(key))).catch((error) => missing(key, error))).size;
  }

  async deleteAll(prefix: string): Promise<void> {
    await rm(join(this.root, checkPrefix(prefix)), { recursive: true, force: true });
  }

  async ready(): Promise<void> {
    const folder = `_probe/${randomUUID()}`; // other processes may be asking at the same time
    await this.put(`${folder}/written`, Buffer.from('ready'));
    await this.deleteAll(folder);
  }
}

function missing(key: string, error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' ? new StoredFileMissing(key, error) : error;
}

/** Makes a rename durable: the name is the folder's data. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
