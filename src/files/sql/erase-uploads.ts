import { Injectable } from '@nestjs/common';
import type { ErasedPiece } from '../../auth/erasure/erasure-work.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';
import { deleteBlobs } from './request-files.ts';

/** The maximum number of rows of one statement. */
const ERASED_UPLOADS = 500;

const DELETE: Statement = {
  name: 'files.erase_uploads',
  text: `
    delete from uploads where id = any(array(
      select id from uploads where api_key_id = $1 order by id limit ${ERASED_UPLOADS}))`,
};

/** The keys in storage of one API key begin with `uploads/key_…/`, so they lie together in the index. */
const ofKey = `id >= 'uploads/' || $1 || '/' and id < 'uploads/' || $1 || '0'`;

/**
 * Marks the bytes, so that no new upload uses them, and the purge deletes them if the erasure does not. While bytes are
 * being written, or a link still permits writing them, the old `doomed_at` is in the future. It becomes `purge_after`,
 * so the purge deletes what is there after that time.
 */
const DOOM: Statement = {
  name: 'files.doom_of_key',
  text: `
    update upload_blobs set doomed_at = now(), purge_after = doomed_at, released_at = null, sha256 = null where id = any(array(
      select id from upload_blobs where ${ofKey} and (doomed_at is null or doomed_at > now()) limit ${ERASED_UPLOADS}))`,
};

/** Leaves out the bytes that the purge deletes later. */
const READ_DOOMED: Statement = {
  name: 'files.read_doomed_of_key',
  text: `select id from upload_blobs where ${ofKey} and doomed_at <= now() and purge_after is null limit ${ERASED_UPLOADS}`,
};
const DELETE_DOOMED: Statement = {
  name: 'files.delete_doomed_of_key',
  text: deleteBlobs('id = any($1::text[])'),
};
const DELETE_SUM: Statement = {
  name: 'files.delete_request_file_sum',
  text: 'delete from request_file_sums where api_key_id = $1',
};

/** Raw SQL because each piece has a bounded number of rows. */
@Injectable()
export class EraseUploadRows {
  constructor(private readonly sql: Sql) {}

  /**
   * Deletes up to `ERASED_UPLOADS` uploads, and marks the bytes of up to `ERASED_UPLOADS` stored files for deletion.
   */
  async delete(tx: Tx, apiKeyId: string): Promise<ErasedPiece> {
    const uploads = (await tx.query({ ...DELETE, values: [apiKeyId] })).rowCount ?? 0;
    const doomed = (await tx.query({ ...DOOM, values: [apiKeyId] })).rowCount ?? 0;
    return { erased: { uploads }, mayBeMore: Math.max(uploads, doomed) === ERASED_UPLOADS };
  }

  /**
   * @returns the storage keys of up to `ERASED_UPLOADS` files that are marked for deletion; empty when there are no
   *   more
   */
  async doomed(apiKeyId: string): Promise<string[]> {
    return (await this.sql.run<{ id: string }>(READ_DOOMED, [apiKeyId])).map(({ id }) => id);
  }

  async deleteDoomed(tx: Tx, keys: string[]): Promise<ErasedPiece> {
    await tx.query({ ...DELETE_DOOMED, values: [keys] });
    return { erased: {} };
  }

  async deleteSum(tx: Tx, apiKeyId: string): Promise<ErasedPiece> {
    await tx.query({ ...DELETE_SUM, values: [apiKeyId] });
    return { erased: {} };
  }
}
