import type { Readable } from 'node:stream';

/** Bytes in memory, or a file where they may be many. The file is read, never moved. */
export type StorageBody = Buffer | { path: string };

/** Both ends included, as in HTTP. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Where results live. An abstract class only because Nest needs a token: `DiskStorage` or `S3Storage` stands behind it.
 * Keys are relative paths of plain names: `task_…/1-0.png`.
 */
export abstract class Storage {
  /** Nobody reads a key before its `put` has resolved; then the bytes are safe. A put again replaces them. */
  abstract put(key: string, body: StorageBody, contentType: string): Promise<void>;
  /** @throws StoredFileMissing before the first byte, so that a caller can still choose its answer */
  abstract open(key: string, range?: ByteRange): Promise<Readable>;
  /** Bytes. @throws StoredFileMissing */
  abstract size(key: string): Promise<number>;
  /** Deletes the folder `prefix` with all it holds; none there is fine. */
  abstract deleteAll(prefix: string): Promise<void>;
  /** Writes a small file and deletes it again. @throws when that fails */
  abstract ready(): Promise<void>;
}

/** There is no file under this key. */
export class StoredFileMissing extends Error {
  constructor(key: string, cause?: unknown) {
    super(`Nothing is stored under "${key}".`, { cause });
    this.name = 'StoredFileMissing';
  }
}

/** Segments begin with a letter, a digit or `_`: so no `..`, no hidden file, no absolute path, no empty key. */
const KEY = /^[A-Za-z0-9_][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)*$/;

/** @throws Error for a key that could lead elsewhere; a mistake of ours, so not an ApiError */
export function checkKey(key: string): string {
  if (key.length > 512 || !KEY.test(key)) throw new Error(`Not a storage key: ${JSON.stringify(key.slice(0, 100))}`);
  return key;
}

/** A folder may be named with or without its last slash. */
export const checkPrefix = (prefix: string): string => checkKey(prefix.replace(/\/$/, ''));
