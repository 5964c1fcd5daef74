import { randomBytes } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Sql, type Tx } from '../../platform/database/sql.ts';
import { Storage, type StorageBody } from '../../platform/storage/storage.ts';
import { activateBlob, ANNOUNCE_BLOB, DOOM_BLOB, useBlob } from '../sql/blob-rows.ts';

/** Longer than the slowest write to storage, which gives up after minutes. */
const WRITE_S = 3_600;
const UNIQUE_VIOLATION = '23505';
/** Attempts. One fails when the same bytes are uploaded, deleted or purged at the same moment. */
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
   * @param record writes what uses the bytes, in the transaction in which they become usable; if it throws, nothing stays
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

  /** Announces a place to which a client writes itself, in time. The purge deletes what is there afterwards. */
  async announce(apiKeyId: string, sha256: string | null, seconds: number): Promise<string> {
    const id = `uploads/${apiKeyId}/${randomBytes(16).toString('hex')}`;
    await this.sql.run(ANNOUNCE_BLOB, [id, apiKeyId, sha256, seconds]);
    return id;
  }

  private async write<Row>(
    { apiKeyId, body, contentType, sha256 }: Bytes,
    record: (tx: Tx, blobId: string) => Promise<Row>,
  ): Promise<Row> {
    const id = await this.announce(apiKeyId, sha256, WRITE_S);
    try {
      await this.storage.put(id, body, contentType);
      return await this.sql.transaction(async (tx) => {
        if (!(await activateBlob(tx, id))) throw new Error(`Writing ${id} took longer than ${WRITE_S} s.`);
        return record(tx, id);
      });
    } catch (error) {
      await this.discard(id);
      throw error;
    }
  }

  /** Deletes at once what was written in vain. If that fails, the purge does it. */
  async discard(id: string): Promise<void> {
    try {
      const doomed = await this.sql.run(DOOM_BLOB, [id]);
      if (doomed.length > 0) await this.storage.delete(id);
    } catch (err) {
      this.logger.warn({ event: 'upload.discard_failed', key: id, err });
    }
  }
}
