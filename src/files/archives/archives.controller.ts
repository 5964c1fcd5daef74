import { Body, Controller, Get, Head, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, Public, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { KeylessRate } from '../../auth/limits/keyless-rate.ts';
import { ApiError } from '../../errors/api-error.ts';
import { IgnoresUnknownQuery } from '../../platform/http/query-parameters.guard.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { type FileRequest, Signature } from '../content/signed-request.ts';
import { CreateArchiveInput } from './archive.inputs.ts';
import { ArchiveView } from './archive.view.ts';
import { Archives } from './archives.ts';

const FileIds = () => ApiQuery({ name: 'file_ids', required: false, schema: { type: 'string' } });

@ApiTags('Files')
@Controller('v1/files/archive')
export class ArchivesController {
  constructor(
    private readonly archives: Archives,
    private readonly links: FileLinks,
    private readonly rate: KeylessRate,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('tasks:read')
  @Fails('file_not_found', 'file_expired', 'upload_incomplete')
  @ApiOperation({ summary: 'Get a link to a zip of several files', operationId: 'createArchive' })
  @ApiOkResponse({ type: ArchiveView })
  create(@CurrentCaller() { apiKeyId }: Caller, @Body() { file_ids }: CreateArchiveInput): Promise<ArchiveView> {
    return this.archives.create(apiKeyId, file_ids);
  }

  /** Declared before GET: otherwise Fastify would derive from GET a HEAD route that reads all the files. */
  @Head()
  @Public()
  @IgnoresUnknownQuery()
  @Signature()
  @FileIds()
  @Fails('invalid_signature', 'file_expired', 'rate_limit_exceeded')
  @ApiOperation({ summary: 'Describe a zip of several files', operationId: 'headArchive', security: [] })
  @ApiResponse({ status: 200, description: 'the headers of the zip' })
  async head(@Req() request: FileRequest, @Res() reply: FastifyReply) {
    const { bytes } = await this.archives.describe(this.idsOf(request));
    return setHeaders(reply, bytes).send();
  }

  @Get()
  @Public()
  @IgnoresUnknownQuery()
  @Signature()
  @FileIds()
  @Fails('invalid_signature', 'file_expired', 'rate_limit_exceeded')
  @ApiOperation({ summary: 'Read a zip of several files', operationId: 'getArchive', security: [] })
  @ApiResponse({
    status: 200,
    description: 'the zip',
    content: { 'application/zip': { schema: { type: 'string', format: 'binary' } } },
  })
  async get(@Req() request: FileRequest, @Res() reply: FastifyReply) {
    const { bytes, stream } = await this.archives.read(this.idsOf(request));
    return setHeaders(reply, bytes).send(stream); // Fastify destroys the stream when the client goes away
  }

  /** @throws ApiError invalid_signature, rate_limit_exceeded */
  private idsOf({ ip, query }: FileRequest): string[] {
    this.rate.count(ip); // each request looks for up to 100 files
    const ids = query['file_ids'];
    if (typeof ids !== 'string' || !this.links.verifyArchive(ids, query)) throw new ApiError('invalid_signature');
    return ids.split(',');
  }
}

const setHeaders = (reply: FastifyReply, bytes: number): FastifyReply =>
  reply.headers({
    'content-type': 'application/zip',
    'content-length': bytes,
    'content-disposition': 'attachment; filename="darkroom.zip"',
    'accept-ranges': 'none',
    'cache-control': 'no-store',
  });
