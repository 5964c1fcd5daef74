import { Controller, Get, Head, Header, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../../auth/access/access.ts';
import { KeylessRate } from '../../auth/limits/keyless-rate.ts';
import { ApiError } from '../../errors/api-error.ts';
import { IgnoresUnknownQuery } from '../../platform/http/query-parameters.guard.ts';
import { matches } from '../../platform/http/request.ts';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { etagOf, rangeOf, sendBytes, setFileHeaders } from '../content/file-answer.ts';
import { FILE_POLICY } from '../content/signed-request.ts';
import { Previews } from '../previews/previews.ts';
import { filenameOf } from '../record/file.view.ts';
import type { Share } from '../record/share.entity.ts';
import { type SharedFile, SharedFiles } from './shared-files.ts';
import { ShareLinks } from './share-links.ts';
import { SHARE_HEADERS, sharePage, STILL_WIDTH } from './share-page.ts';
import { Shares } from './shares.ts';

/** The bytes may be cached, but each use asks whether the share still exists. */
const CACHED = 'private, no-cache';

/**
 * Shows a share to anyone who has its address. This service always sends the bytes itself: a link of the bucket would
 * still work after the share has ended.
 */
@IgnoresUnknownQuery()
@ApiExcludeController()
@Public()
@Controller('s')
export class SharePageController {
  constructor(
    private readonly shares: Shares,
    private readonly links: ShareLinks,
    private readonly files: SharedFiles,
    private readonly previews: Previews,
    private readonly storage: Storage,
    private readonly rate: KeylessRate,
  ) {}

  @Get(':token')
  @Header('x-robots-tag', 'noindex')
  @Header('referrer-policy', 'no-referrer')
  async page(@Param('token') token: string, @Req() { ip }: FastifyRequest, @Res() reply: FastifyReply) {
    this.rate.count(ip);
    const share = await this.open(token);
    const files = await Promise.all(share.file_ids.map((id) => this.findPresent(share, id)));
    if (files.every((file) => file === null)) throw new ApiError('file_expired');
    const { show_prompt: showPrompt, expires_at: expiresAt } = share;
    const page = sharePage({ url: this.links.urlOf(share.id), token, files, showPrompt, expiresAt });
    return reply.headers(SHARE_HEADERS).send(page);
  }

  /**
   * Declared before GET: otherwise Fastify would derive from GET a HEAD route that reads the whole file to count its
   * bytes.
   */
  @Head(':token/:index')
  async head(@Param('token') token: string, @Param('index') index: string, @Res() reply: FastifyReply) {
    const { content } = await this.find(token, index);
    setHeaders(reply, { content }, 'inline');
    return reply.header('content-length', content.bytes).send();
  }

  @Get(':token/:index')
  async file(
    @Param('token') token: string,
    @Param('index') index: string,
    @Query('download') download: string | undefined,
    @Req() { headers }: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const { content } = await this.find(token, index);
    const place = download === undefined ? 'inline' : 'attachment';
    const disposition = `${place}; filename="${filenameOf(`darkroom-${Number(index) + 1}`, content.contentType)}"`;
    if (matches(headers['if-none-match'], etagOf(content))) {
      setHeaders(reply, { content }, disposition);
      return reply.code(304).send();
    }
    const range = rangeOf(content, headers);
    const bytes = await this.storage.open(content.storageKey, range ?? undefined).catch(async (error: unknown) => {
      if (error instanceof StoredFileMissing) await this.find(token, index); // throws file_expired for a deleted file
      throw error;
    });
    setHeaders(reply, { content }, disposition);
    return sendBytes(reply, content, { range, bytes });
  }

  @Get(':token/:index/preview')
  async preview(
    @Param('token') token: string,
    @Param('index') index: string,
    @Req() { headers }: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const { output } = await this.find(token, index);
    if (!output) throw new ApiError('variant_not_available', { message: 'An upload has no preview.' });
    const etag = `"${output.output.sha256}-${STILL_WIDTH}"`;
    const still = matches(headers['if-none-match'], etag) ? null : await this.previews.open(output, STILL_WIDTH);
    void reply.headers({
      'content-type': 'image/webp',
      etag,
      'cache-control': CACHED,
      'content-security-policy': FILE_POLICY,
      'x-robots-tag': 'noindex',
    });
    return still === null ? reply.code(304).send() : reply.send(still);
  }

  /** @throws ApiError invalid_signature, share_ended */
  private async open(token: string): Promise<Share> {
    const id = this.links.verify(token);
    if (id === null) throw new ApiError('invalid_signature');
    return this.shares.open(id);
  }

  private async find(token: string, index: string): Promise<SharedFile> {
    const share = await this.open(token);
    const id = /^[0-7]$/.test(index) ? share.file_ids[Number(index)] : undefined;
    if (id === undefined) throw new ApiError('file_not_found');
    const file = await this.findPresent(share, id);
    if (!file) throw new ApiError('file_expired');
    return file;
  }

  /** null if the file has expired or was deleted, by itself or with its task. */
  private async findPresent({ api_key_id }: Share, id: string): Promise<SharedFile | null> {
    try {
      return await this.files.find(api_key_id, id);
    } catch (error) {
      if (error instanceof ApiError && (error.code === 'file_not_found' || error.code === 'file_expired')) return null;
      throw error;
    }
  }
}

function setHeaders(reply: FastifyReply, { content }: Pick<SharedFile, 'content'>, disposition: string): void {
  setFileHeaders(reply, content, { disposition, cacheControl: CACHED });
  void reply.header('x-robots-tag', 'noindex');
}
