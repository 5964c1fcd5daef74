import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, LessThan, MoreThan, Not, Raw, Repository } from 'typeorm';
import type { Caller } from '../../auth/access/caller.ts';
import type { Owner } from '../../auth/api-keys/key-limits.ts';
import type { Actor } from '../../auth/audit/actor.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { equalsOrdered, hiddenTime } from '../../platform/database/planner.ts';
import { Sql } from '../../platform/database/sql.ts';
import type { ScratchFile } from '../../platform/http/multipart/scratch-file.ts';
import { DAY_S, HOUR_S } from '../../platform/schema/time.ts';
import { DeleteOutput } from '../../tasks/acts/delete-output.ts';
import { type OutputFile, TaskFiles } from '../../tasks/read/task-files.ts';
import { isUploadId, newUploadId } from '../record/file-id.ts';
import { countRequestFile } from '../sql/request-files.ts';
import { assertRoom, completeUpload, insertUpload, type NewUpload, quotaOf } from '../sql/upload-rows.ts';
import { Blobs } from './blobs.ts';
import { FileInspector } from './file-inspector.ts';
import { type FileSource, firstBytesOf } from './first-bytes.ts';
import { type Purpose, Upload } from '../record/upload.entity.ts';

/** How long a file that came inside a request is kept while it has no task. */
const UNTIED_S = HOUR_S;

/** What a request states about a file. */
export interface NewFile {
  purpose: Purpose;
  /** Shown to clients, and used for nothing else. */
  filename: string | null;
  /** Seconds that the file is kept; missing: the configured time. */
  lifetimeS?: number | undefined;
  /**
   * The file came inside a request. It is deleted with the files of its task, not listed, and counts for a quota of its
   * own.
   */
  ofTask?: boolean;
}

export interface UploadPage {
  limit: number;
  after?: string | undefined;
  order?: 'asc' | 'desc' | undefined;
  purpose?: Purpose | undefined;
  /** Includes files that came inside a request. Otherwise clients find these by their id only. */
  withThoseOfTasks?: boolean;
}

/**
 * The files of an API key: its uploads, and the outputs of its tasks. `ofTask` and `findAny` find files of any key.
 * Every other method finds only files of the given key.
 */
@Injectable()
export class FilesService {
  constructor(
    @InjectRepository(Upload) private readonly uploads: Repository<Upload>,
    private readonly config: Config,
    private readonly sql: Sql,
    private readonly blobs: Blobs,
    private readonly inspector: FileInspector,
    private readonly outputs: TaskFiles,
    private readonly deleteOutput: DeleteOutput,
  ) {}

  /**
   * Inspects a file by its bytes and stores it. Bytes after the end of an image are cut off.
   * @throws ApiError invalid_image, invalid_file, file_quota_exceeded; then nothing is stored
   */
  async create(caller: Owner, source: FileSource, file: NewFile): Promise<Upload> {
    const { apiKeyId } = caller;
    const inspection = await this.inspector.inspect(apiKeyId, file.purpose, source);
    const { body, sha256 } = await firstBytesOf(source, inspection.bytes);
    const upload: Omit<NewUpload, 'blob_id'> = {
      ...this.newUpload(apiKeyId, file),
      ...inspection,
      sha256,
      declared_sha256: null,
    };
    const quota = quotaOf(caller, upload.of_task ? 'maxRequestFileBytes' : 'maxFileBytes');
    // The quota is checked here too, before the bytes are written.
    if (!upload.of_task) await this.sql.transaction((tx) => assertRoom(tx, upload, quota));
    return this.blobs.keep({ apiKeyId, body, sha256, contentType: upload.content_type }, async (tx, blobId) => {
      if (upload.of_task) await countRequestFile(tx, { ...upload, blob_id: blobId }, quota);
      else await assertRoom(tx, upload, quota);
      return insertUpload(tx, { ...upload, blob_id: blobId });
    });
  }

  /** The id of the file that came inside the request of a task and has these bytes; null if there is none. */
  async ofTask(taskId: string, sha256: string): Promise<string | null> {
    const known = { task_id: taskId, of_task: true, sha256, blob_id: Not(IsNull()), deleted_at: IsNull() };
    return (await this.uploads.findOneBy(known))?.id ?? null;
  }

  /**
   * Gives a pending upload its bytes. If another request has completed it meanwhile, returns the completed upload.
   * @throws ApiError invalid_image, invalid_file, file_quota_exceeded, and then the upload stays pending;
   *   file_not_found, file_expired
   */
  async complete(caller: Caller, pending: Upload, source: ScratchFile): Promise<Upload> {
    const { apiKeyId } = caller;
    if (source.bytes !== pending.bytes) throw notAsDeclared(`It has ${source.bytes} bytes, not ${pending.bytes}`);
    if (pending.declared_sha256 !== null && source.sha256 !== pending.declared_sha256) {
      throw notAsDeclared(`Its SHA-256 is ${source.sha256}`);
    }
    const inspection = await this.inspector.inspect(apiKeyId, pending.purpose, source);
    const { body, sha256 } = await firstBytesOf(source, inspection.bytes);
    const content = { ...inspection, sha256 };
    const stored = { apiKeyId, body, sha256, contentType: content.content_type };
    try {
      return await this.blobs.keep(stored, async (tx, blobId) => {
        await assertRoom(tx, { ...pending, ...content }, quotaOf(caller, 'maxFileBytes'));
        const completed = await completeUpload(tx, pending, blobId, content);
        if (completed === null) throw new NotPending(); // otherwise the bytes would stay although no upload uses them
        return completed;
      });
    } catch (error) {
      if (!(error instanceof NotPending)) throw error;
      const current = await this.findUpload(apiKeyId, pending.id);
      if (current.status === 'pending') throw new ApiError('file_expired');
      return current;
    }
  }

  /** @throws ApiError file_not_found, also for a file of another key */
  async find(apiKeyId: string, id: string): Promise<Upload | OutputFile> {
    if (isUploadId(id)) return this.findUpload(apiKeyId, id);
    const output = await this.outputs.find(id);
    if (output?.apiKeyId !== apiKeyId) throw notFound();
    return output;
  }

  /** @throws ApiError file_not_found */
  async findUpload(apiKeyId: string, id: string): Promise<Upload> {
    const upload = isUploadId(id) ? await this.uploads.findOneBy({ id, deleted_at: IsNull() }) : null;
    if (upload?.api_key_id !== apiKeyId) throw notFound();
    if (upload.task_id !== null && !(await this.outputs.hasTask(upload.task_id))) throw notFound();
    return upload;
  }

  /** The uploads that have not expired, newest first by default. */
  async list(
    apiKeyId: string,
    { limit, after, order = 'desc', purpose, withThoseOfTasks = false }: UploadPage,
  ): Promise<{ uploads: Upload[]; hasMore: boolean }> {
    const beyond = order === 'asc' ? MoreThan : LessThan;
    // With a plain equality, PostgreSQL might read the uploads of all keys by the primary key or by their expiry.
    const isOfKey = Raw((column) => equalsOrdered(column, ':apiKeyId'), { apiKeyId });
    const uploads = await this.uploads.find({
      where: {
        api_key_id: isOfKey,
        ...(!withThoseOfTasks && { of_task: false }),
        deleted_at: IsNull(),
        expires_at: Raw((column) => `${hiddenTime(column)} > now()`),
        ...(after !== undefined && { id: beyond(after) }),
        ...(purpose !== undefined && { purpose }),
      },
      order: { api_key_id: order, id: order },
      take: limit + 1,
    });
    return { uploads: uploads.slice(0, limit), hasMore: uploads.length > limit };
  }

  /**
   * Deletes a file: its id is unknown from now on. The bytes of an upload stay while an unfinished task needs them. The
   * task of a deleted output stays. The link of a pending upload may be valid for some time more. On disk it then
   * accepts no bytes. A bucket accepts them, and the purge deletes them when the link has expired.
   * @throws ApiError file_not_found
   */
  async delete(actor: Actor, id: string): Promise<void> {
    const { apiKeyId } = actor.caller!;
    if (!isUploadId(id)) {
      const output = await this.find(apiKeyId, id);
      await this.deleteOutput.delete(actor, output as OutputFile);
      return;
    }
    const own = { id, api_key_id: apiKeyId, deleted_at: IsNull() };
    const upload = await this.uploads.findOneBy(own);
    const { affected } = await this.uploads.update(own, { deleted_at: () => 'now()' });
    if (affected === 0) throw notFound();
    if (upload?.status === 'pending') await this.blobs.deleteAnnounced(upload.blob_id);
  }

  /** Finds uploads of any API key, deleted ones too, because a signed link permits the file of any key. */
  async findAny(ids: string[]): Promise<Upload[]> {
    return this.uploads.findBy({ id: In(ids) });
  }

  /** The fields of a new row that do not depend on its bytes. */
  newUpload(
    apiKeyId: string,
    { purpose, filename, lifetimeS, ofTask = false }: NewFile,
  ): Pick<NewUpload, 'id' | 'api_key_id' | 'purpose' | 'filename' | 'lifetime_s' | 'of_task' | 'expires_in_s'> {
    const id = newUploadId();
    const lifetime_s = Math.ceil(lifetimeS ?? this.config.uploadRetentionDays * DAY_S);
    return {
      id,
      api_key_id: apiKeyId,
      purpose,
      filename: filename ?? id,
      lifetime_s,
      of_task: ofTask,
      expires_in_s: ofTask ? UNTIED_S : lifetime_s,
    };
  }
}

/** Another request has completed or deleted the upload meanwhile, or it has expired. */
class NotPending extends Error {}

function notFound(): ApiError {
  return new ApiError('file_not_found', { param: 'id' });
}

function notAsDeclared(what: string): ApiError {
  return new ApiError('invalid_file', { message: `The file is not what was declared. ${what}.` });
}
