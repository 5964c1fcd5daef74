import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import type { ListResourcesResult, ReadResourceResult, ResourceTemplateType } from '@modelcontextprotocol/server';
import { assertScope } from '../../auth/access/access.ts';
import { ApiError } from '../../errors/api-error.ts';
import { type FileContent, FileContents, hasContent } from '../../files/content/file-contents.ts';
import { filenameOf } from '../../files/record/file.view.ts';
import { exactly } from '../../platform/storage/exactly.ts';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { isPresent } from '../../tasks/read/task.view.ts';
import { TaskViews } from '../../tasks/read/task-views.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { Lookups } from '../running/lookups.ts';
import type { Exchange } from '../contract/tool.ts';
import { LoadedFiles } from './loaded-files.ts';

const TASK = 'darkroom://tasks/';
const FILE = 'darkroom://files/';
const LISTED_TASKS = 50;
/** The maximum size in bytes of a file in a resource. Base64 needs a third more in memory. */
const MAX_BLOB_BYTES = 20_000_000;

export const RESOURCE_TEMPLATES: ResourceTemplateType[] = [
  {
    uriTemplate: `${TASK}{task_id}`,
    name: 'task',
    title: 'A task',
    description: 'A task as GET /v1/tasks/{task_id} shows it.',
    mimeType: 'application/json',
  },
  {
    uriTemplate: `${FILE}{file_id}`,
    name: 'file',
    title: 'A file',
    description: 'The bytes of an output or of an upload, up to 20 MB.',
  },
];

/** Tasks and files of a key as resources. */
@Injectable()
export class ResourcesService {
  constructor(
    private readonly tasks: TasksService,
    private readonly views: TaskViews,
    private readonly files: FileContents,
    private readonly links: FileLinks,
    private readonly storage: Storage,
    private readonly loaded: LoadedFiles,
    private readonly lookups: Lookups,
  ) {}

  /** The stored outputs of the newest succeeded tasks. @throws ApiError insufficient_scope */
  async list(exchange: Exchange): Promise<ListResourcesResult> {
    const { caller } = exchange;
    assertScope(caller, 'tasks:read');
    const filter = { status: 'succeeded' } as const;
    const { tasks } = await this.lookups.take(exchange, () =>
      this.tasks.list(caller.apiKeyId, filter, { limit: LISTED_TASKS, order: 'desc' }),
    );
    const resources = tasks.flatMap((task) =>
      (task.result ?? [])
        .filter((output) => isPresent(task, output))
        .map(({ id, content_type: mimeType, size_bytes: size }) => ({
          uri: `${FILE}${id}`,
          name: filenameOf(id, mimeType),
          mimeType,
          size,
        })),
    );
    return { resources };
  }

  /**
   * @throws ApiError task_not_found, file_not_found, file_expired, payload_too_large, insufficient_scope,
   *   invalid_value, and those of `LoadedFiles`
   */
  async read(exchange: Exchange, uri: string): Promise<ReadResourceResult> {
    const { caller, reply } = exchange;
    assertScope(caller, 'tasks:read');
    if (uri.startsWith(TASK)) {
      const task = await this.tasks.find(caller.apiKeyId, uri.slice(TASK.length));
      return { contents: [{ uri, mimeType: 'application/json', text: this.views.json(task) }] };
    }
    if (!uri.startsWith(FILE)) {
      const message = `uri must begin with ${TASK} or ${FILE}.`;
      throw new ApiError('invalid_value', { param: 'uri', message });
    }
    const id = uri.slice(FILE.length);
    const file = await this.lookups.take(exchange, () => this.find(caller.apiKeyId, id));
    const { url } = this.links.sign(id, unixSeconds(file.expiresAt));
    if (file.bytes > MAX_BLOB_BYTES) {
      const message = `The file has ${file.bytes} bytes; a resource has at most ${MAX_BLOB_BYTES}. Download it: ${url}`;
      throw new ApiError('payload_too_large', { param: 'uri', message });
    }
    this.loaded.admit(file.bytes, { apiKeyId: caller.apiKeyId, reply, url });
    const opened = await this.storage.open(file.storageKey).catch(throwMissing);
    const bytes = await buffer(exactly(opened, file.bytes));
    return { contents: [{ uri, mimeType: file.contentType, blob: bytes.toString('base64') }] };
  }

  private async find(apiKeyId: string, id: string): Promise<FileContent> {
    const found = await this.files.find(id);
    if (found?.apiKeyId !== apiKeyId) throw new ApiError('file_not_found', { param: 'uri' });
    if (!hasContent(found)) throw new ApiError('file_expired', { param: 'uri' });
    return found;
  }
}

function throwMissing(error: unknown): never {
  throw error instanceof StoredFileMissing ? new ApiError('file_expired', { param: 'uri' }) : error;
}
