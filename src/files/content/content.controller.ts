import { Controller, Get, Head, HttpCode, Param, Put, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiHeader, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { callerOf, Public, PublicWhen, RequireScope } from '../../auth/access/access.ts';
import { ApiError } from '../../errors/api-error.ts';
import { matches } from '../../platform/http/request.ts';
import { IgnoresUnknownQuery } from '../../platform/http/query-parameters.guard.ts';
import { AcceptsBody } from '../../platform/http/multipart/accepts-body.ts';
import { FileBody } from '../../platform/http/multipart/file-body.ts';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { DirectDelivery } from './direct-delivery.ts';
import { etagOf, rangeOf, sendBytes, setFileHeaders } from './file-answer.ts';
import { type FileContent, FileContents, hasContent } from './file-contents.ts';
import { filenameOf } from '../record/file.view.ts';
import { type GeneratedFile, GeneratedFiles } from './generated-files.ts';
import { cacheControlOf, type FileRequest, isDownload, isSigned, Signature } from './signed-request.ts';
import { DirectUploads } from '../uploads/direct-uploads.ts';
import { headerRefs } from '../../platform/openapi/headers.ts';
import { Fails } from '../../platform/openapi/faults.ts';

/** Some client generators read only the first type, so the first is that of any bytes. */
const BYTES = Object.fromEntries(
  ['application/octet-stream', 'image/png', 'image/jpeg', 'image/webp', 'video/mp4', 'application/jsonl'].map(
    (type) => [type, { schema: { type: 'string', format: 'binary' } }],
  ),
);

/**
 * Serves the bytes of files, to clients with a signed link or with the key that owns them. Receives the bytes of
 * pending files by signed links. Browsers, mailers and caches add parameters such as `utm_source` to links that they
 * pass on, so unknown parameters are ignored.
 */
@IgnoresUnknownQuery()
@ApiTags('Files')
@Controller('v1/files')
export class ContentController {
  constructor(
    private readonly contents: FileContents,
    private readonly links: FileLinks,
    private readonly storage: Storage,
    private readonly direct: DirectUploads,
    private readonly generated: GeneratedFiles,
    private readonly delivery: DirectDelivery,
  ) {}

  /**
   * Declared before GET: otherwise Fastify would derive from GET a HEAD route that reads the whole file to count its
   * bytes.
   */
  @Head(':id/content')
  @PublicWhen(isSigned)
  @RequireScope('tasks:read')
  @Signature()
  @Fails('file_not_found', 'invalid_signature', 'file_expired', 'upload_incomplete')
  @ApiOperation({ summary: 'Describe the bytes of a file', operationId: 'headFile', security: [{}, { api_key: [] }] })
  @ApiResponse({ status: 200, description: 'the headers of the file' })
  async head(@Param('id') id: string, @Req() request: FileRequest, @Res() reply: FastifyReply) {
    const generated = await this.findGenerated(id, request);
    if (generated) return setGeneratedHeaders(reply, generated).send();
    const file = await this.find(id, request);
    const isKnown = matches(request.headers['if-none-match'], etagOf(file));
    if (!isKnown) await this.storage.size(file.storageKey).catch((error) => this.throwMissing(error, id, request));
    setHeaders(reply, id, file, request);
    if (isKnown) return reply.code(304).send();
    return reply.header('content-length', file.bytes).send();
  }

  @Get(':id/content')
  @PublicWhen(isSigned)
  @RequireScope('tasks:read')
  @Signature()
  @Fails('file_not_found', 'invalid_signature', 'file_expired', 'range_not_satisfiable', 'upload_incomplete')
  @ApiOperation({ summary: 'Read the bytes of a file', operationId: 'getFile', security: [{}, { api_key: [] }] })
  @ApiQuery({
    name: 'download',
    required: false,
    description: 'any value makes browsers save the file instead of showing it',
    schema: { type: 'string' },
  })
  @ApiHeader({ name: 'Range', required: false, description: 'the bytes to read, such as `bytes=0-1023`' })
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'the `ETag` of an earlier answer' })
  @ApiResponse({ status: 200, description: 'the bytes of the file', content: BYTES, headers: headerRefs('ETag') })
  @ApiResponse({ status: 206, description: 'the requested range of bytes', content: BYTES })
  @ApiResponse({
    status: 302,
    description: 'with `FILE_DELIVERY=redirect`: a link of the bucket, which works for at most 5 minutes',
    headers: { Location: { schema: { type: 'string', format: 'uri' } } },
  })
  @ApiResponse({ status: 304, description: 'the bytes have not changed since the answer that `If-None-Match` names' })
  async get(@Param('id') id: string, @Req() request: FileRequest, @Res() reply: FastifyReply) {
    const { headers } = request;
    const generated = await this.findGenerated(id, request);
    if (generated) return setGeneratedHeaders(reply, generated).send(generated.open());
    const file = await this.find(id, request);
    if (matches(headers['if-none-match'], etagOf(file))) {
      setHeaders(reply, id, file, request);
      return reply.code(304).send();
    }
    const range = rangeOf(file, headers);
    const link = await this.delivery.linkTo(file, dispositionOf(id, file, request));
    if (link) return reply.header('cache-control', cacheControlOf(request, link.maxAgeS)).redirect(link.url, 302);
    const bytes = await this.storage
      .open(file.storageKey, range ?? undefined)
      .catch((error) => this.throwMissing(error, id, request));

    setHeaders(reply, id, file, request);
    return sendBytes(reply, file, { range, bytes });
  }

  @Put(':id/content')
  @HttpCode(200)
  @Public()
  @AcceptsBody({ signedFile: true })
  @Signature()
  @Fails('invalid_signature', 'upload_incomplete', 'payload_too_large', 'file_expired', 'request_timeout')
  @ApiBody({ schema: { type: 'string', format: 'binary' } })
  @ApiConsumes('application/octet-stream')
  @ApiOperation({
    summary: 'Send the bytes of a pending file to the URL in its `upload`',
    operationId: 'putFile',
    security: [],
  })
  @ApiResponse({ status: 200, description: 'the bytes are stored; complete the file now' })
  async put(@Param('id') id: string, @Req() request: FileRequest): Promise<void> {
    const { expires, signature } = request.query;
    if (!this.links.verifyUpload(id, expires, signature)) throw new ApiError('invalid_signature');
    if (!(request.body instanceof FileBody)) throw new ApiError('upload_incomplete', { message: 'Send the bytes.' });
    await this.direct.receive(id, request.body);
  }

  /**
   * A generated file needs the key: no signed link to such a file is ever made.
   * @returns null when the id is not that of a generated file
   */
  private async findGenerated(id: string, request: FileRequest): Promise<GeneratedFile | null> {
    const find = this.generated.sourceOf(id);
    if (!find) return null;
    if (isSigned(request)) throw new ApiError('invalid_signature');
    const file = await find(callerOf(request).apiKeyId, id);
    if (!file) throw new ApiError('file_not_found', { param: 'id' });
    return file;
  }

  /** Verifies a signed link first: with a wrong signature, a client must not learn which files exist. */
  private async find(id: string, request: FileRequest): Promise<FileContent> {
    const { expires, signature } = request.query;
    const owner = isSigned(request) ? null : callerOf(request).apiKeyId;
    if (owner === null && !this.links.verify(id, expires, signature)) throw new ApiError('invalid_signature');
    const found = await this.contents.find(id);
    if (owner !== null && found?.apiKeyId !== owner) throw new ApiError('file_not_found', { param: 'id' });
    if (!found) return throwExpired();
    if (hasContent(found)) return found;
    throw new ApiError(found.reason === 'pending' ? 'upload_incomplete' : 'file_expired');
  }

  /**
   * Reads the record again, because the file may have been deleted after the first read. If the record is still there,
   * the file is lost, or this process uses another storage than the worker. That is an `internal_error`, which the
   * error filter logs with its cause.
   * @throws ApiError those of `find` when the file was deleted; otherwise `error`
   */
  private async throwMissing(error: unknown, id: string, request: FileRequest): Promise<never> {
    if (error instanceof StoredFileMissing) await this.find(id, request);
    throw error;
  }
}

function throwExpired(): never {
  throw new ApiError('file_expired');
}

const setGeneratedHeaders = (reply: FastifyReply, { contentType, filename }: GeneratedFile): FastifyReply =>
  reply.headers({
    'content-type': contentType,
    'content-disposition': `attachment; filename="${filename}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });

const dispositionOf = (id: string, { contentType }: FileContent, request: FileRequest): string =>
  `${isDownload(request) ? 'attachment' : 'inline'}; filename="${filenameOf(id, contentType)}"`;

function setHeaders(reply: FastifyReply, id: string, file: FileContent, request: FileRequest): void {
  setFileHeaders(reply, file, { disposition: dispositionOf(id, file, request), cacheControl: cacheControlOf(request) });
}
