import { Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { bytesOfDataUrl, isDataUrl } from '../../platform/images/data-url.ts';
import type { ImageUrl } from '../../models/definition/parameters.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { TaskFiles } from '../../tasks/read/task-files.ts';
import { isUploadId } from '../record/file-id.ts';
import { FilesService } from '../uploads/files.service.ts';
import { type ReservedUpload, ReserveUploads } from '../sql/reserve-uploads.ts';
import { FileInspector } from '../uploads/file-inspector.ts';
import { DirectUploads } from '../uploads/direct-uploads.ts';
import type { ErrorCode } from '../../errors/catalog.ts';

/** @throws ApiError invalid_url */
function decodeDataUrl(url: string, param: string): Buffer {
  const bytes = bytesOfDataUrl(url);
  if (bytes) return bytes;
  throw new ApiError('invalid_url', {
    param,
    message: `${param} must be a data:image/…;base64 URL with valid base64.`,
  });
}

/**
 * Adds the field to an error about its image.
 * @throws ApiError of `work`; if its status is below 500, with the field as `param`
 */
export async function atField<Result>(param: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || error.param === param) throw error;
    const { code, message, status } = error;
    throw new ApiError(code, { param, message: `${param}: ${message}`, status, cause: error });
  }
}

const MESSAGES = {
  file_not_found: 'names no file of yours',
  file_expired: 'names a file that has expired',
  invalid_image: 'names a file that is no still image',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** The error for a file that a field names. */
function fault(code: keyof typeof MESSAGES, param: string): ApiError {
  return new ApiError(code, { status: 400, param, message: `${param} ${MESSAGES[code]}.` });
}

/** The files that came inside the request of a creation, as data: URLs. */
export interface RequestImages {
  /** For each field the id of the file that its data: URL has become. */
  replaced: ReadonlyMap<string, string>;
  /** The ids of the stored files. A picture that several fields contain is one file. */
  created: string[];
}

/** A field that names a file of this service. */
interface Named {
  param: string;
  id: string;
  /** A signed link permits the file of any key. An id permits only files of the caller. */
  isLink: boolean;
}

interface Unresolved {
  caller: Caller;
  fields: readonly ImageUrl[];
  named: Named[] | ApiError;
  /** The uploads that a creation of the caller may name, by id. */
  uploads: Map<string, ReservedUpload>;
  needS: number;
}

export const NO_IMAGES: RequestImages = { replaced: new Map(), created: [] };

/**
 * Stores the images that come inside a creation. Keeps these images, and the files that the creation names, until the
 * task has read them.
 */
@Injectable()
export class RequestImagesService {
  private readonly logger = new Logger('files');

  constructor(
    private readonly files: FilesService,
    private readonly direct: DirectUploads,
    private readonly reserving: ReserveUploads,
    private readonly outputs: TaskFiles,
    private readonly links: FileLinks,
    private readonly inspector: FileInspector,
  ) {}

  /** Whether the URL is a link of this service. Such a link is never fetched. */
  isOwn(url: string): boolean {
    return this.links.parse(url) !== null;
  }

  /**
   * Runs no statement for a creation without images.
   * @param needS seconds for which the task may need the files
   * @throws ApiError file_not_found, file_expired, invalid_image, invalid_file, invalid_url, upload_incomplete or
   *   file_quota_exceeded with the field as `param`; then no file of the request stays
   */
  async resolve(caller: Caller, fields: readonly ImageUrl[], needS: number): Promise<RequestImages> {
    if (fields.length === 0) return NO_IMAGES;
    const [images] = await this.resolveAll(caller, [fields], needS);
    if (images instanceof ApiError) throw images;
    return images!;
  }

  /**
   * Resolves the images of many creations. One statement finds all the uploads that they name.
   * @returns for each creation its images, or the ApiError with a status below 500 that `resolve` would throw
   */
  async resolveAll(
    caller: Caller,
    creations: readonly (readonly ImageUrl[])[],
    needS: number,
  ): Promise<(RequestImages | ApiError)[]> {
    const named = creations.map((fields) => this.namesOf(fields));
    const found = named.flatMap((names) => (names instanceof ApiError ? [] : names));
    const uploads = await this.reserve(caller, found, needS);
    const results: (RequestImages | ApiError)[] = [];
    try {
      for (const [at, fields] of creations.entries()) {
        results.push(await this.resolveOne({ caller, fields, named: named[at]!, uploads, needS }));
      }
      return results;
    } catch (error) {
      await this.forgetAll(results.filter((result): result is RequestImages => !(result instanceof ApiError)));
      throw error;
    }
  }

  /**
   * Inspects the images as `resolve` does, but keeps none of them.
   * @throws ApiError as `resolve`
   */
  async check(caller: Caller, fields: readonly ImageUrl[]): Promise<void> {
    const named = fields.flatMap((field) => this.nameOf(field) ?? []);
    const uploads = await this.reserve(caller, named, 0);
    for (const each of named) await this.assertUsable(caller, each, uploads);
    for (const field of fields.filter(({ url }) => isDataUrl(url))) {
      await atField(field.param, () =>
        this.inspector.inspect(caller.apiKeyId, 'vision', decodeDataUrl(field.url, field.param)),
      );
    }
  }

  /** Call when the task is created. The files of the request then stay as long as the files of the task. */
  async attach({ created }: RequestImages, task: { id: string; expires_at: Date }): Promise<void> {
    if (created.length === 0) return;
    try {
      await this.reserving.attach(created, task.id, task.expires_at.getTime());
    } catch (err) {
      this.logger.warn({ event: 'upload.tie_failed', task_id: task.id, err }); // the files stay until the task has read them
    }
  }

  /** Call when no task was created. */
  async forget({ created }: RequestImages): Promise<void> {
    if (created.length > 0) await this.reserving.forget(created).catch(() => undefined); // or they expire within the hour
  }

  async forgetAll(images: readonly RequestImages[]): Promise<void> {
    const created = images.flatMap((each) => each.created);
    await this.forget({ replaced: new Map(), created });
  }

  private async resolveOne({ caller, fields, named, uploads, needS }: Unresolved): Promise<RequestImages | ApiError> {
    const inline = fields.filter(({ url }) => isDataUrl(url));
    if (named instanceof ApiError) return named;
    if (named.length + inline.length === 0) return NO_IMAGES;
    const replaced = new Map<string, string>();
    const stored = new Map<string, string>(); // a picture that is sent in several fields is one file
    const created = () => [...stored.values()];
    try {
      for (const each of named) await this.assertUsable(caller, each, uploads);
      for (const field of inline) {
        const id = stored.get(field.url) ?? (await this.store(caller, field));
        stored.set(field.url, id);
        replaced.set(field.param, id);
      }
      if (stored.size > 0) await this.reserving.reserve(caller.apiKeyId, created(), needS);
    } catch (error) {
      await this.forget({ replaced, created: created() });
      if (error instanceof ApiError && error.status < 500) return error;
      throw error;
    }
    return { replaced, created: created() };
  }

  private namesOf(fields: readonly ImageUrl[]): Named[] | ApiError {
    try {
      return fields.flatMap((field) => this.nameOf(field) ?? []);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  /** @throws ApiError invalid_url for a link of this service with a bad or expired signature */
  private nameOf({ param, url }: ImageUrl): Named | null {
    if (url.startsWith('file_')) return { param, id: url, isLink: false };
    const link = this.links.parse(url);
    if (!link) return null;
    const { fileId: id, expires, signature } = link;
    if (this.links.verify(id, expires, signature)) return { param, id, isLink: true };
    const message = `${param} is a link of this service, but its signature is wrong or has expired.`;
    throw new ApiError('invalid_url', { param, message });
  }

  /** Keeps the uploads among the named files for at least `needS` seconds, and returns them by id. */
  private async reserve(caller: Caller, named: Named[], needS: number): Promise<Map<string, ReservedUpload>> {
    const ids = [...new Set(named.map(({ id }) => id).filter(isUploadId))];
    const linked = named.filter(({ isLink }) => isLink).map(({ id }) => id);
    const rows = ids.length > 0 ? await this.reserving.reserve(caller.apiKeyId, ids, needS, linked) : [];
    return new Map(rows.map((row) => [row.id, row]));
  }

  private async assertUsable(caller: Caller, named: Named, uploads: Map<string, ReservedUpload>): Promise<void> {
    if (isUploadId(named.id)) await this.assertUpload(caller, named, uploads.get(named.id));
    else await this.assertOutput(caller, named);
  }

  private async assertUpload(caller: Caller, { param, isLink }: Named, row: ReservedUpload | undefined): Promise<void> {
    const isOwn = row?.api_key_id === caller.apiKeyId;
    if (!row || !(isOwn || isLink)) throw fault('file_not_found', param);
    if (row.is_expired) throw fault('file_expired', param);
    if (row.purpose === 'batch') throw fault('invalid_image', param);
    if (row.status === 'processed') return;
    if (!isOwn) throw fault('file_not_found', param);
    try {
      await this.direct.complete(caller, row.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message, status } = error;
      throw new ApiError(code, { param, message, status, cause: error });
    }
  }

  private async assertOutput(caller: Caller, { param, id, isLink }: Named): Promise<void> {
    const file = await this.outputs.find(id);
    if (!file || !(isLink || file.apiKeyId === caller.apiKeyId) || file.output.deleted) {
      throw fault('file_not_found', param);
    }
    if (!file.isPresent) throw fault('file_expired', param);
    if (file.output.type !== 'image') throw fault('invalid_image', param);
  }

  private async store(caller: Caller, { param, url }: ImageUrl): Promise<string> {
    const bytes = decodeDataUrl(url, param);
    const file = { purpose: 'vision', filename: null, ofTask: true } as const;
    return (await atField(param, () => this.files.create(caller, bytes, file))).id;
  }
}
