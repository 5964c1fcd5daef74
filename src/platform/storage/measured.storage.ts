import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CALL_BUCKETS } from '../observe/measuring/buckets.ts';
import { counter, histogram } from '../observe/measuring/declare.ts';
import {
  type ByteRange,
  type GetTerms,
  type PutTerms,
  type SignedPut,
  Storage,
  type StorageBody,
  StoredFileMissing,
} from './storage.ts';

const seconds = histogram(
  'darkroom_storage_operation_seconds',
  'Time of an operation of the storage; of `open` until the first byte can be read.',
  CALL_BUCKETS,
  ['driver', 'operation', 'outcome'],
);

const bytes = counter('darkroom_storage_bytes_total', 'Bytes written to the storage and read from it.', ['direction']);
for (const direction of ['in', 'out']) bytes.inc({ direction }, 0);

/** Measures the reads, writes and deletions of another storage. */
export class MeasuredStorage extends Storage {
  constructor(
    private readonly storage: Storage,
    private readonly driver: 'disk' | 's3',
  ) {
    super();
  }

  async put(key: string, body: StorageBody, contentType: string): Promise<void> {
    await this.measure('put', () => this.storage.put(key, body, contentType));
    await countStored(body);
  }

  async putAtomically(key: string, body: StorageBody, contentType: string): Promise<void> {
    await this.measure('put', () => this.storage.putAtomically(key, body, contentType));
    await countStored(body);
  }

  signPut(key: string, terms: PutTerms): Promise<SignedPut | null> {
    return this.storage.signPut(key, terms);
  }

  signGet(key: string, terms: GetTerms): Promise<string | null> {
    return this.storage.signGet(key, terms);
  }

  linkOrigin(): Promise<string | null> {
    return this.storage.linkOrigin();
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    return counted(await this.measure('open', () => this.storage.open(key, range)));
  }

  size(key: string): Promise<number> {
    return this.measure('size', () => this.storage.size(key));
  }

  delete(key: string): Promise<void> {
    return this.measure('delete', () => this.storage.delete(key));
  }

  deleteAll(prefix: string): Promise<void> {
    return this.measure('delete', () => this.storage.deleteAll(prefix));
  }

  list(): AsyncIterable<string> {
    return this.storage.list();
  }

  ready(): Promise<void> {
    return this.storage.ready();
  }

  private async measure<Result>(operation: string, run: () => Promise<Result>): Promise<Result> {
    const begunMs = performance.now();
    const record = (outcome: string): void =>
      seconds.observe({ driver: this.driver, operation, outcome }, (performance.now() - begunMs) / 1000);
    try {
      const result = await run();
      record('ok');
      return result;
    } catch (error) {
      record(error instanceof StoredFileMissing ? 'missing' : 'failed');
      throw error;
    }
  }
}

async function countStored(body: StorageBody): Promise<void> {
  bytes.inc({ direction: 'in' }, Buffer.isBuffer(body) ? body.length : await sizeOf(body.path));
}

/** Size of a file that was stored; 0 if the file is already deleted. */
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** Counts the bytes of a stream. A listener for `data` would start the stream before its reader is ready. */
function counted(stream: Readable): Readable {
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (Buffer.isBuffer(chunk)) bytes.inc({ direction: 'out' }, chunk.length);
    return push(chunk, encoding);
  };
  return stream;
}
