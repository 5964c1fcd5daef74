import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  type ByteRange,
  checkKey,
  checkPrefix,
  isKey,
  type Storage,
  type StorageBody,
  StoredFileMissing,
} from './storage.ts';

/** Files in a local directory, readable only by the user of this process. */
export class DiskStorage implements Storage {
  constructor(private readonly root: string) {}

  async put(key: string, body: StorageBody): Promise<void> {
    const target = join(this.root, checkKey(key));
    // The task row will durably say "succeeded", so the bytes and the file name must survive a power cut as well. No
    // reader has the key yet, so no rename is needed. For a small file, a rename would be a third of the work.
    await store(target, body, () => sync(dirname(target)));
  }

  async putAtomically(key: string, body: StorageBody): Promise<void> {
    const target = join(this.root, checkKey(key));
    const written = join(dirname(target), `.${randomUUID()}`); // not a key; after a power cut it is deleted with its folder
    await store(written, body, async () => {
      await rename(written, target);
      await sync(dirname(target));
    });
  }

  async signPut(): Promise<null> {
    return null;
  }

  async signGet(): Promise<null> {
    return null;
  }

  async linkOrigin(): Promise<null> {
    return null;
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    const file = await open(join(this.root, checkKey(key)), 'r').catch((error) => missing(key, error));
    return file.createReadStream(range);
  }

  async size(key: string): Promise<number> {
    return (await stat(join(this.root, checkKey(key))).catch((error) => missing(key, error))).size;
  }

  async delete(key: string): Promise<void> {
    await rm(join(this.root, checkKey(key)), { force: true });
  }

  async deleteAll(prefix: string): Promise<void> {
    await rm(join(this.root, checkPrefix(prefix)), { recursive: true, force: true });
  }

  async *list(): AsyncGenerator<string> {
    yield* filesBelow(this.root, '');
  }

  async ready(): Promise<void> {
    const folder = `_probe/${randomUUID()}`; // other processes may probe at the same time
    await this.put(`${folder}/written`, Buffer.from('ready'));
    await this.deleteAll(folder);
  }
}

/** Lists folder by folder, so that millions of names are never in memory at once. */
async function* filesBelow(root: string, folder: string): AsyncGenerator<string> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(absent);
  for (const entry of entries) {
    const key = folder + entry.name;
    if (entry.isDirectory()) yield* filesBelow(root, `${key}/`);
    else if (entry.isFile() && isKey(key)) yield key;
  }
}

function absent(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return []; // nothing is stored yet, or the purge has deleted the folder
  throw error;
}

function missing(key: string, error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' ? new StoredFileMissing(key, error) : error;
}

/** Stores a body. Leaves no file behind when it fails. */
async function store(path: string, body: StorageBody, finish: () => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    if (Buffer.isBuffer(body)) await writeFile(path, body, { mode: 0o600, flush: true });
    else await copyDurably(body.path, path);
    await finish();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o600); // a copy keeps the mode of its source, which may forbid opening the copy
  await sync(to);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
