import { type Storage, StoredFileMissing } from './storage.ts';

const KEY = '_marker/id';

/** The text by which a database recognises its storage; null if the storage has none. */
export async function readStorageMarker(storage: Storage): Promise<string | null> {
  try {
    return Buffer.concat(await (await storage.open(KEY)).toArray()).toString();
  } catch (error) {
    if (error instanceof StoredFileMissing) return null;
    throw error;
  }
}

export const writeStorageMarker = (storage: Storage, id: string): Promise<void> =>
  storage.put(KEY, Buffer.from(id), 'text/plain');
