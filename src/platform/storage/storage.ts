import type { Readable } from 'node:stream';

/** Bytes in memory, or the path of a file for large results. `put` reads the file and never moves it. */
export type StorageBody = Buffer | { path: string };

/** A request with which a client writes one file itself. */
export interface SignedPut {
  url: string;
  /** The client must send exactly these headers. */
  headers: Record<string, string>;
}

/** What a signed PUT permits. */
export interface PutTerms {
  contentType: string;
  bytes: number;
  /** Seconds. */
  lifetimeS: number;
}

/** What a signed GET permits, and what its answer says of the file. */
export interface GetTerms {
  contentType: string;
  /** The header `Content-Disposition`. */
  disposition: string;
  /** In whole seconds. Links with the same terms are the same text, so that caches recognise them. */
  signedAt: Date;
  /** Seconds after `signedAt`. */
  lifetimeS: number;
}

/** Byte offsets, both inclusive as in HTTP. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The storage of files, implemented by `DiskStorage` and `S3Storage`. An abstract class and not an interface, because
 * Nest needs a runtime value as the injection token. Keys are relative paths of plain names: `task_…/1-0.png`.
 */
export abstract class Storage {
  /** When this resolves, the bytes are durable. No code may read the key earlier. A second put replaces the first. */
  abstract put(key: string, body: StorageBody, contentType: string): Promise<void>;
  /** Like `put`, for a key that may be read while it is written: a reader gets all of the bytes or none. */
  abstract putAtomically(key: string, body: StorageBody, contentType: string): Promise<void>;
  /**
   * Lets a client write a file of exactly this length and type. null if files are on disk: then a route of the service
   * receives the file.
   */
  abstract signPut(key: string, terms: PutTerms): Promise<SignedPut | null>;
  /** A link with which anyone can read the file. null if files are on disk. The file may be missing. */
  abstract signGet(key: string, terms: GetTerms): Promise<string | null>;
  /** The origin of links of `signGet`, as browsers name it: `https://host`. null if files are on disk. */
  abstract linkOrigin(): Promise<string | null>;
  /** @throws StoredFileMissing before the first byte, so that the caller can still choose the HTTP status */
  abstract open(key: string, range?: ByteRange): Promise<Readable>;
  /** Size in bytes. @throws StoredFileMissing */
  abstract size(key: string): Promise<number>;
  /** Deletes one file. A missing file is not an error. */
  abstract delete(key: string): Promise<void>;
  /** Deletes the folder `prefix` and everything in it. A missing folder is not an error. */
  abstract deleteAll(prefix: string): Promise<void>;
  /** Every key, in no order. A file that is written or deleted meanwhile may be listed or not. */
  abstract list(): AsyncIterable<string>;
  /** Readiness probe; cheap. @throws when the storage cannot be used */
  abstract ready(): Promise<void>;
}

/** No file has this key. */
export class StoredFileMissing extends Error {
  constructor(key: string, cause?: unknown) {
    super(`Nothing is stored under "${key}".`, { cause });
    this.name = 'StoredFileMissing';
  }
}

/** Segments start with a letter, a digit or `_`, which excludes `..`, hidden files, absolute paths and empty keys. */
const KEY = /^[A-Za-z0-9_][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)*$/;

/**
 * Returns the key.
 * @throws Error for a text that is no key: it could escape the storage. That is a bug of the caller, so it is not an
 *   ApiError.
 */
export function checkKey(key: string): string {
  if (!isKey(key)) throw new Error(`Not a storage key: ${JSON.stringify(key.slice(0, 100))}`);
  return key;
}

/** Whether the service may have written a file of this name. A bucket or a folder may also have files of others. */
export const isKey = (name: string): boolean => name.length <= 512 && KEY.test(name);

/** Accepts a folder with or without a trailing slash. */
export const checkPrefix = (prefix: string): string => checkKey(prefix.replace(/\/$/, ''));
