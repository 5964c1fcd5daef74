import { Injectable, Logger } from '@nestjs/common';
import { Sql, type Tx } from '../../platform/database/sql.ts';
import { Storage, type StorageBody } from '../../platform/storage/storage.ts';
import { activateBlob, announceBlob, DOOM_BLOB, newBlobId, useBlob } from '../sql/blob-rows.ts';

/**
 * Seconds for which a write is announced: longer than the slowest write to storage, which is given up after minutes.
 */
const WRITE_S = 3_600;
const UNIQUE_VIOLATION = '23505';
/**
 * The maximum number of attempts. An attempt fails when another upload of the same bytes was first. The next attempt
 * uses the bytes of that upload.
 */
const ROUNDS = 5;

interface Bytes {
  apiKeyId: string;
  body: StorageBody;
  contentType: string;
  /** Hex. */
  sha256: string;
}

/** Stores the bytes of uploads, once for each key and hash. */
@Injectable()
export class Blobs {
  private readonly logger = new Logger('files');

  constructor(
    private readonly sql: Sql,
    private readonly storage: Storage,
  ) {}

  /**
   * @param record writes the rows that use the bytes, in the transaction in which the bytes become usable; if it
   *   throws, neither rows nor bytes stay
   */
  async keep<Row>(bytes: Bytes, record: (tx: Tx, blobId: string) => Promise<Row>): Promise<Row> {
    for (let round = 1; ; round++) {
      const found = await this.sql.transaction(async (tx) => {
        const id = await useBlob(tx, bytes.apiKeyId, bytes.sha256);
        return id === null ? null : { row: await record(tx, id) };
      });
      if (found) return found.row;
      try {
        return await this.write(bytes, record);
      } catch (error) {
        if ((error as { code?: string }).code !== UNIQUE_VIOLATION || round === ROUNDS) throw error;
      }
    }
  }

  private async write<Row>(
    { apiKeyId, body, contentType, sha256 }: Bytes,
    record: (tx: Tx, blobId: string) => Promise<Row>,
  ): Promise<Row> {
    const id = newBlobId(apiKeyId);
    await this.sql.transaction((tx) => announceBlob(tx, { id, api_key_id: apiKeyId, sha256 }, WRITE_S));
    try {
      await this.storage.put(id, body, contentType);
      return await this.sql.transaction(async (tx) => {
        if (!(await activateBlob(tx, id))) {
          throw new Error(`Writing ${id} took longer than ${WRITE_S} s, or its API key was erased meanwhile.`);
        }
        return record(tx, id);
      });
    } catch (error) {
      await this.discard(id);
      throw error;
    }
  }

  /**
   * Deletes the bytes that a client may have put into storage itself. If that fails, or the client writes more bytes
   * later, the purge deletes them.
   */
  async deleteAnnounced(id: string | null): Promise<void> {
    if (id !== null) await this.storage.delete(id).catch(() => undefined);
  }

  /** Deletes bytes at once, unless an upload can use them. If the deletion fails, the purge deletes them later. */
  async discard(id: string): Promise<void> {
    try {
      const usable = await this.sql.run(DOOM_BLOB, [id]);
      if (usable.length === 0) await this.storage.delete(id);
    } catch (err) {
      this.logger.warn({ event: 'upload.discard_failed', key: id, err });
    }
  }
}
