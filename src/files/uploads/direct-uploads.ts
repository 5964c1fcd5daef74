import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { shareOwner } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiKeysService } from '../../auth/api-keys/api-keys.service.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Sql } from '../../platform/database/sql.ts';
import type { FileBody } from '../../platform/http/multipart/file-body.ts';
import type { ScratchFile } from '../../platform/http/multipart/scratch-file.ts';
import { makeScratch, removeScratch } from '../../platform/run/scratch.ts';
import { Turns } from '../../platform/run/turns.ts';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { HOUR_S } from '../../platform/schema/time.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import type { CreateUploadInput } from './file.inputs.ts';
import type { FileUploadView } from '../record/file.view.ts';
import { FilesService } from './files.service.ts';
import { announceBlob, newBlobId } from '../sql/blob-rows.ts';
import { assertRoom, insertUpload, type NewUpload, quotaOf } from '../sql/upload-rows.ts';
import type { Upload } from '../record/upload.entity.ts';

/** How long a link for an upload works. */
const LINK_S = HOUR_S;
/** After its link has ended, an upload that began before may run for this long. */
const LATE_S = HOUR_S;
/** How long an upload that is never completed counts against the quota. */
const PENDING_S = 24 * HOUR_S;
/**
 * The maximum number of uploads that are read back concurrently. Each has a scratch file. They are then inspected one
 * at a time.
 */
const READ_AT_ONCE = 8;
const NEVER = new AbortController().signal;

/**
 * Uploads that are announced first. Their bytes go to a bucket directly, or to this service if files are stored on
 * disk. They are usable only once they are read back and inspected.
 */
@Injectable()
export class DirectUploads {
  private readonly reading = new Turns(READ_AT_ONCE);

  constructor(
    private readonly files: FilesService,
    private readonly sql: Sql,
    private readonly storage: Storage,
    private readonly links: FileLinks,
    private readonly apiKeys: ApiKeysService,
  ) {}

  /** @throws ApiError file_quota_exceeded */
  async create(
    caller: Caller,
    { purpose = 'vision', filename, bytes, content_type, sha256, expires_after }: CreateUploadInput,
  ): Promise<{ pending: Upload; upload: FileUploadView }> {
    const { apiKeyId } = caller;
    const row: Omit<NewUpload, 'blob_id'> = {
      ...this.files.newUpload(apiKeyId, { purpose, filename, lifetimeS: expires_after?.seconds }),
      content_type,
      bytes,
      sha256: null,
      declared_sha256: sha256 ?? null,
      width: null,
      height: null,
      expires_in_s: PENDING_S,
    };
    const blob = { id: newBlobId(apiKeyId), api_key_id: apiKeyId, sha256: null };
    const signed = await this.storage.signPut(blob.id, { contentType: content_type, bytes, lifetimeS: LINK_S });
    const own = this.links.signUpload(row.id, LINK_S);
    const pending = await this.sql.transaction(async (tx) => {
      await assertRoom(tx, row, quotaOf(caller, 'maxFileBytes'));
      await announceBlob(tx, blob, LINK_S + LATE_S, signed && bytes);
      return insertUpload(tx, { ...row, blob_id: blob.id });
    });
    const upload = {
      method: 'PUT' as const,
      url: signed?.url ?? own.url,
      headers: signed?.headers ?? { 'content-type': content_type, 'content-length': String(bytes) },
      expires_at: own.expiresAt,
    };
    return { pending, upload };
  }

  /**
   * Receives the bytes of a pending file, if files are stored on disk. The signature of the link is verified already.
   * @throws ApiError file_expired; invalid_file when the bytes have another length or type than declared, or are there
   *   already
   */
  async receive(id: string, body: FileBody): Promise<void> {
    const upload = await this.awaited(id);
    if (body.announcedBytes !== upload.bytes) throw invalid(`Send exactly ${upload.bytes} bytes, with Content-Length.`);
    if (body.contentType !== upload.content_type) throw invalid(`Send the Content-Type ${upload.content_type}.`);
    const file = await body.read(upload.api_key_id);
    try {
      await this.storage.putAtomically(upload.blob_id, { path: file.path }, upload.content_type);
    } finally {
      await file.dispose();
    }
    try {
      await this.awaited(id);
    } catch (error) {
      await this.storage.delete(upload.blob_id); // the upload was deleted or completed meanwhile, and needs no bytes
      throw error;
    }
  }

  /** @throws ApiError file_expired, invalid_file */
  private async awaited(id: string): Promise<Upload & { blob_id: string }> {
    const [upload] = await this.files.findAny([id]);
    if (!upload?.blob_id || upload.deleted_at) throw new ApiError('file_expired');
    if (!(await this.apiKeys.isUsable(upload.api_key_id))) throw new ApiError('file_expired');
    if (upload.status !== 'pending') throw invalid('This file has its bytes already.');
    return upload as Upload & { blob_id: string };
  }

  /**
   * Reads the bytes back, inspects and keeps them. May be repeated without harm.
   * @throws ApiError file_not_found, file_expired, upload_incomplete; invalid_image, invalid_file or
   *   file_quota_exceeded, and then the bytes are deleted
   */
  async complete(caller: Caller, id: string): Promise<Upload> {
    const upload = await this.files.findUpload(caller.apiKeyId, id);
    if (upload.status === 'processed') return upload; // a repeated call does not wait for its turn
    return this.reading.take(shareOwner(caller), NEVER, () => this.completeInTurn(caller, id));
  }

  private async completeInTurn(caller: Caller, id: string): Promise<Upload> {
    const upload = await this.files.findUpload(caller.apiKeyId, id);
    if (upload.status === 'processed') return upload;
    if (upload.expires_at.getTime() <= Date.now() || upload.blob_id === null) throw new ApiError('file_expired');
    const folder = makeScratch('upload');
    try {
      const source = await this.readBack(upload.blob_id, upload.bytes, join(folder, 'file'));
      const completed = await this.files.complete(caller, upload, source);
      await this.storage.delete(upload.blob_id).catch(() => undefined); // if this fails, the purge deletes the bytes
      return completed;
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) await this.storage.delete(upload.blob_id);
      // Another request may have completed the upload meanwhile, and deleted the bytes that this request read.
      const now = await this.files.findUpload(caller.apiKeyId, id);
      if (now.status === 'processed') return now;
      throw error;
    } finally {
      await removeScratch(folder);
    }
  }

  /** @throws ApiError upload_incomplete, invalid_file */
  private async readBack(key: string, expected: number, path: string): Promise<ScratchFile> {
    try {
      const size = await this.storage.size(key);
      if (size !== expected) throw invalid(`It has ${size} bytes, not ${expected}.`);
      const hash = createHash('sha256');
      let bytes = 0;
      const measure = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          if (bytes > expected) throw invalid(`It has more than ${expected} bytes.`); // the client has replaced the bytes
          hash.update(chunk);
          yield chunk;
        }
      };
      await pipeline(await this.storage.open(key), measure, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      return { path, bytes, sha256: hash.digest('hex') };
    } catch (cause) {
      throw cause instanceof StoredFileMissing ? new ApiError('upload_incomplete', { cause }) : cause;
    }
  }
}

function invalid(what: string): ApiError {
  return new ApiError('invalid_file', { message: `The file is not what was declared. ${what}` });
}
