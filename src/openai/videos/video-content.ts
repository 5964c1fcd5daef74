import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { isRangeCurrent, parseRange } from '../../files/content/byte-range.ts';
import { sendBytes } from '../../files/content/file-answer.ts';
import { FILE_POLICY } from '../../files/content/signed-request.ts';
import { matches } from '../../platform/http/request.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import { isPresent } from '../../tasks/read/task.view.ts';
import { invalid, unsupported } from '../request/fields.ts';

interface Content {
  key: string;
  etag: string;
  contentType: string;
  filename: string;
  bytes: number;
}

@Injectable()
export class VideoContent {
  constructor(private readonly storage: Storage) {}

  /** @param variant `video` or `thumbnail`; anything else is refused */
  async send(task: ShownTask, variant: string, reply: FastifyReply): Promise<void> {
    const content = await this.contentOf(task, variant);
    const { method, headers } = reply.request;
    describe(reply, content);
    if (matches(headers['if-none-match'], content.etag)) return void reply.code(304).send();
    if (method === 'HEAD') return void reply.header('content-length', content.bytes).send();
    const ifRange = headers['if-range'] as string | undefined;
    const range = isRangeCurrent(ifRange, content.etag) ? parseRange(headers.range, content.bytes) : null;
    const bytes = await this.storage.open(content.key, range ?? undefined);
    void sendBytes(reply, content, { range, bytes });
  }

  private async contentOf(task: ShownTask, variant: string): Promise<Content> {
    if (variant === 'spritesheet') throw unsupported('variant', 'There are no sprite sheets. Use video or thumbnail.');
    if (variant !== 'video' && variant !== 'thumbnail') {
      throw invalid('variant', 'invalid_value', 'variant must be video or thumbnail.');
    }
    if (task.status !== 'succeeded') {
      throw new ApiError('result_not_ready', { message: `The video is ${task.status}, so it has no content.` });
    }
    const [output] = task.result ?? [];
    if (!output || !isPresent(task, output)) throw new ApiError('file_expired');
    if (variant === 'video') {
      const { storage_key: key, sha256, content_type: contentType, size_bytes: bytes } = output;
      return { key, etag: `"${sha256}"`, contentType, filename: `${output.id}.mp4`, bytes };
    }
    const key = output.thumbnail_key;
    if (key === undefined) throw new ApiError('variant_not_available', { message: 'This video has no thumbnail.' });
    const bytes = await this.storage.size(key).catch(throwUnavailable);
    const filename = `${output.id}.webp`;
    return { key, etag: `"${output.sha256}-thumbnail"`, contentType: 'image/webp', filename, bytes };
  }
}

function describe(reply: FastifyReply, { etag, contentType, filename }: Content): void {
  reply.headers({
    'content-type': contentType,
    'accept-ranges': 'bytes',
    etag,
    'content-disposition': `inline; filename="${filename}"`,
    'cache-control': 'private, no-cache',
    'content-security-policy': FILE_POLICY,
  });
}

function throwUnavailable(error: unknown): never {
  throw error instanceof StoredFileMissing ? new ApiError('variant_not_available') : error;
}
