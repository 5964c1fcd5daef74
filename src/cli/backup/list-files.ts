import { open } from 'node:fs/promises';
import type { Client } from 'pg';
import type { Storage } from '../../platform/storage/storage.ts';
import { contentTypeOf } from './content-type.ts';
import { knownFiles } from './sql/known-files.ts';

/** Storage keys per query. */
const KEYS_AT_ONCE = 1_000;

export interface ListedFile {
  key: string;
  content_type: string;
}

/** Yields the stored files that the database refers to, in the snapshot of this connection. */
export async function* listFiles(client: Client, storage: Storage): AsyncGenerator<ListedFile> {
  let keys: string[] = [];
  for await (const key of storage.list()) {
    keys.push(key);
    if (keys.length < KEYS_AT_ONCE) continue;
    yield* known(client, keys);
    keys = [];
  }
  yield* known(client, keys);
}

async function* known(client: Client, keys: string[]): AsyncGenerator<ListedFile> {
  for (const { key, content_type } of await knownFiles(client, keys)) {
    yield { key, content_type: content_type ?? contentTypeOf(key) };
  }
}

/** Writes each item as one line of JSON. @returns how many */
export async function writeLines(path: string, items: AsyncIterable<unknown>): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let count = 0;
    for await (const item of items) {
      await file.write(`${JSON.stringify(item)}\n`);
      count += 1;
    }
    await file.sync();
    return count;
  } finally {
    await file.close();
  }
}

/** Reads what `writeLines` wrote, one line at a time. */
export async function* readLines<Item>(path: string): AsyncGenerator<Item> {
  const file = await open(path);
  try {
    for await (const line of file.readLines()) yield JSON.parse(line) as Item;
  } finally {
    await file.close();
  }
}
