import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { callerOf, PublicWhen, RequireScope } from '../../auth/access/access.ts';
import { ApiError } from '../../errors/api-error.ts';
import { matches } from '../../platform/http/request.ts';
import { IgnoresUnknownQuery } from '../../platform/http/query-parameters.guard.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { isPreviewWidth, PREVIEW_WIDTHS, type PreviewWidth } from '../../tasks/read/preview-key.ts';
import { type OutputFile, TaskFiles } from '../../tasks/read/task-files.ts';
import { cacheControlOf, FILE_POLICY, type FileRequest, isSigned, Signature } from '../content/signed-request.ts';
import { Previews } from './previews.ts';

const WEBP = { 'image/webp': { schema: { type: 'string', format: 'binary' } } };

/** Serves small stills of outputs, with a signed link or with the key that owns them. */
@IgnoresUnknownQuery()
@ApiTags('Files')
@Controller('v1/files')
export class PreviewsController {
  constructor(
    private readonly files: TaskFiles,
    private readonly links: FileLinks,
    private readonly previews: Previews,
  ) {}

  @Get(':id/preview')
  @PublicWhen(isSigned)
  @RequireScope('tasks:read')
  @Signature()
  @Fails('invalid_value', 'invalid_signature', 'file_not_found', 'variant_not_available', 'file_expired')
  @ApiQuery({ name: 'width', required: true, schema: { type: 'string', enum: PREVIEW_WIDTHS.map(String) } })
  @ApiOperation({
    summary: 'Read a small still of an output',
    operationId: 'getPreview',
    security: [{}, { api_key: [] }],
  })
  @ApiResponse({ status: 200, description: 'a WebP; its longest side has at most `width` pixels', content: WEBP })
  async get(@Param('id') id: string, @Req() request: FileRequest, @Res() reply: FastifyReply) {
    const width = widthOf(request);
    const file = await this.find(id, width, request);
    const etag = `"${file.output.sha256}-${width}"`;
    const isKnown = matches(request.headers['if-none-match'], etag);
    const still = isKnown ? null : await this.previews.open(file, width);
    void reply.headers({
      'content-type': 'image/webp',
      etag,
      'cache-control': cacheControlOf(request),
      'content-security-policy': FILE_POLICY,
      'cross-origin-resource-policy': 'cross-origin',
    });
    return still === null ? reply.code(304).send() : reply.send(still);
  }

  /** Verifies a signed link first: with a wrong signature, a client must not learn which files exist. */
  private async find(id: string, width: PreviewWidth, request: FileRequest): Promise<OutputFile> {
    const { expires, signature } = request.query;
    const owner = isSigned(request) ? null : callerOf(request).apiKeyId;
    if (owner === null && !this.links.verifyPreview(id, width, { expires, signature })) {
      throw new ApiError('invalid_signature');
    }
    const file = await this.files.find(id);
    if (!file || (owner !== null && file.apiKeyId !== owner)) throw new ApiError('file_not_found', { param: 'id' });
    if (!file.isPresent) throw new ApiError('file_expired');
    return file;
  }
}

/** @throws ApiError invalid_value */
function widthOf({ query }: FileRequest): PreviewWidth {
  const width = typeof query.width === 'string' && /^[1-9][0-9]{2,3}$/.test(query.width) ? Number(query.width) : 0;
  if (isPreviewWidth(width)) return width;
  throw new ApiError('invalid_value', { param: 'width', message: `width must be ${PREVIEW_WIDTHS.join(', ')}.` });
}
