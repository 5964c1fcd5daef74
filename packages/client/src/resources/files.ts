import { fileAccess } from '../file-access.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import { type Pages, pages } from '../pages.ts';
import type { Archive, DeletedFile, File as StoredFile, UploadPurpose } from '../types.gen.ts';

interface UploadOptions extends CallOptions {
  /** Default: the name of the file, or `file`. */
  filename?: string;
  /** Default `vision`: an image to start from. `batch`: requests as JSON lines. */
  purpose?: UploadPurpose;
  /** Seconds from the creation of the file to its deletion, from 3,600 to 2,592,000. */
  expiresAfterS?: number;
}

const UPLOAD_TIMEOUT_MS = 300_000;

/** The files of the API key: uploaded files and outputs of tasks. */
export class Files {
  constructor(private readonly transport: Transport) {}

  /** @param source a Blob or File, bytes, or (with a file system) the path of a file */
  async upload(source: Blob | Uint8Array<ArrayBuffer> | string, options: UploadOptions = {}): Promise<StoredFile> {
    const { filename, purpose = 'vision', expiresAfterS, ...call } = options;
    const blob = await blobOf(source);
    const form = new FormData();
    form.append('purpose', purpose);
    if (expiresAfterS !== undefined) {
      form.append('expires_after[anchor]', 'created_at');
      form.append('expires_after[seconds]', String(expiresAfterS));
    }
    form.append('file', blob, filename ?? (blob as Partial<File>).name ?? 'file');
    // Repeatable: a second upload only stores the same bytes under another id, which expires like the first.
    const more = { timeoutMs: UPLOAD_TIMEOUT_MS, ...call, body: form, isRepeatable: true };
    return this.transport.json('POST', '/v1/files', more);
  }

  /** The uploaded files without the outputs of tasks, newest first. */
  list(query: { purpose?: UploadPurpose; limit?: number } = {}, options: CallOptions = {}): Pages<StoredFile> {
    return pages(this.transport, '/v1/files', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<StoredFile> {
    return this.transport.json('GET', pathOf(id), options);
  }

  /** The bytes of an upload or an output, as a response whose body is not read yet. */
  async content(id: string, options: CallOptions = {}): Promise<Response> {
    return this.transport.open('GET', `${pathOf(id)}/content`, options);
  }

  /**
   * Keeps an output: it is not deleted when its retention ends.
   * @param collection the name of a collection to put the output in; null: none
   */
  keep(id: string, collection: string | null = null, options: CallOptions = {}): Promise<StoredFile> {
    return this.transport.json('PUT', `${pathOf(id)}/keep`, { ...options, body: { collection }, isRepeatable: true });
  }

  /** Stops keeping an output. Its retention then counts again. */
  unkeep(id: string, options: CallOptions = {}): Promise<StoredFile> {
    return this.transport.json('DELETE', `${pathOf(id)}/keep`, { ...options, isRepeatable: true });
  }

  /** A link to a zip of 1 to 100 files. The link works without the key until `expires_at`. */
  archive(ids: readonly string[], options: CallOptions = {}): Promise<Archive> {
    return this.transport.json('POST', '/v1/files/archive', {
      ...options,
      body: { file_ids: ids },
      isRepeatable: true,
    });
  }

  /** Deletes an upload, or the bytes of an output. The task of the output stays. */
  delete(id: string, options: CallOptions = {}): Promise<DeletedFile> {
    return this.transport.json('DELETE', pathOf(id), options);
  }
}

async function blobOf(source: Blob | Uint8Array<ArrayBuffer> | string): Promise<Blob> {
  if (typeof source === 'string') return fileAccess().read(source);
  return source instanceof Blob ? source : new Blob([source]);
}

const pathOf = (id: string): string => `/v1/files/${encodeURIComponent(id)}`;
