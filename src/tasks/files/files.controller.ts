import { Controller, Get, Head, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../../auth/access.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { isRangeCurrent, parseRange } from './byte-range.ts';
import { FileLinks } from './file-links.ts';
import { matches } from '../task-etag.ts';
import { TaskFiles, type StoredFile } from './task-files.ts';

type LinkQuery = Record<string, unknown>;
type RequestHeaders = Record<string, string | undefined>;

/** Serves the files of results to clients with a signed link. */
@Public()
@ApiTags('Files')
@ApiQuery({ name: 'expires', description: 'unix seconds', schema: { type: 'string' } })
@ApiQuery({ name: 'signature', schema: { type: 'string' } })
@Controller('v1/files')
export class FilesController {
  constructor(
    private readonly files: TaskFiles,
    private readonly links: FileLinks,
    private readonly storage: Storage,
  ) {}

  /** Declared before GET: the HEAD route that Fastify derives from a GET would read the whole file to count its bytes. */
  @Head(':id/content')
  @ApiOperation({ summary: 'Describe a file', operationId: 'headFile', security: [] })
  @ApiResponse({ status: 200, description: 'the headers of the file' })
  async head(
    @Param('id') id: string,
    @Query() query: LinkQuery,
    @Headers() headers: RequestHeaders,
    @Res() reply: FastifyReply,
  ) {
    const file = await this.find(id, query);
    setHeaders(reply, id, file, query);
    if (matches(headers['if-none-match'], etagOf(file))) return reply.code(304).send();
    return reply.header('content-length', file.sizeBytes).send();
  }

  @Get(':id/content')
  @ApiOperation({ summary: 'Read a file', operationId: 'getFile', security: [] })
  @ApiResponse({ status: 200, description: 'the bytes of the file' })
  @ApiResponse({ status: 206, description: 'the requested range of bytes' })
  async get(
    @Param('id') id: string,
    @Query() query: LinkQuery,
    @Headers() headers: RequestHeaders,
    @Res() reply: FastifyReply,
  ) {
    const file = await this.find(id, query);
    const etag = etagOf(file);
    if (matches(headers['if-none-match'], etag)) {
      setHeaders(reply, id, file, query);
      return reply.code(304).send();
    }
    const range = isRangeCurrent(headers['if-range'], etag) ? parseRange(headers.range, file.sizeBytes) : null;
    const bytes = await this.storage
      .open(file.storageKey, range ?? undefined)
      .catch((error) => throwMissing(error, file));

    setHeaders(reply, id, file, query);
    if (range) {
      reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.sizeBytes}`);
    }
    reply.header('content-length', range ? range.end - range.start + 1 : file.sizeBytes);
    return reply.send(bytes); // Fastify destroys the stream when the client goes away
  }

  /** Verifies the signature first: without one, a client must not learn which files exist. */
  private async find(id: string, { expires, signature }: LinkQuery): Promise<StoredFile> {
    if (!this.links.verify(id, expires, signature)) throw new ApiError('invalid_signature');
    return (await this.files.find(id)) ?? throwExpired();
  }
}

function throwExpired(): never {
  throw new ApiError('file_expired');
}

/**
 * The purge may delete a file between the read of the record and the opening of the file. Before that time the file is lost,
 * or this process uses another storage than the worker: `internal_error`, which the error filter logs with the key.
 */
function throwMissing(error: unknown, { expiresAt }: StoredFile): never {
  if (error instanceof StoredFileMissing && expiresAt.getTime() <= Date.now()) throwExpired();
  throw error;
}

const etagOf = (file: StoredFile) => `"${file.sha256}"`;

const EXTENSIONS: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

/**
 * The file came from a provider, so a browser must execute nothing in it. Browsers show an image or video in a generated
 * page, to which the policy also applies: hence the sources and styles.
 */
const CONTENT_SECURITY_POLICY =
  "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/** The headers that 200, 206 and 304 share. */
function setHeaders(reply: FastifyReply, id: string, file: StoredFile, { expires }: LinkQuery): void {
  const secondsLeft = Math.max(0, Number(expires) - Math.ceil(Date.now() / 1000));
  void reply.headers({
    'content-type': file.contentType,
    'accept-ranges': 'bytes',
    etag: etagOf(file),
    'content-disposition': `inline; filename="${id}.${EXTENSIONS[file.contentType] ?? 'bin'}"`,
    'cache-control': `private, max-age=${secondsLeft}`,
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
}
