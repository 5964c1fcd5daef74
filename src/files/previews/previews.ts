import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { ApiError } from '../../errors/api-error.ts';
import { Turns } from '../../platform/run/turns.ts';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { type PreviewWidth, previewKeyOf } from '../../tasks/read/preview-key.ts';
import { type OutputFile, TaskFiles } from '../../tasks/read/task-files.ts';
import { sourceKeyOf } from './preview-size.ts';

/**
 * The number of previews that are rendered concurrently in this process. Rendering a 4K image takes some 30 MB and a
 * second of one core.
 */
const AT_ONCE = 2;
/**
 * The maximum number of previews that wait or are rendered in this process. A gallery asks for some dozens at a time.
 */
const MAX_WAITING = 200;
const PATIENCE_MS = 30_000;
const MAX_PIXELS = 100_000_000;
const TIMEOUT_S = 20;
const QUALITY = 80;

/**
 * Small WebP stills of outputs for lists. A still is made at the first request for it, then stored beside the output.
 */
@Injectable()
export class Previews {
  private readonly turns = new Turns(AT_ONCE);
  private readonly making = new Map<string, Promise<Buffer>>();

  constructor(
    private readonly storage: Storage,
    private readonly files: TaskFiles,
  ) {}

  /**
   * @param file an output whose bytes are present
   * @throws ApiError variant_not_available for a video without a still, or a picture of too many pixels; file_expired;
   *   service_unavailable when too many previews are being made, or this preview has waited too long
   */
  async open(file: OutputFile, width: PreviewWidth): Promise<Readable | Buffer> {
    const key = previewKeyOf(file.task.id, file.output.index, width);
    try {
      return await this.storage.open(key);
    } catch (error) {
      if (!(error instanceof StoredFileMissing)) throw error;
      return this.makeOnce(key, file, width);
    }
  }

  /**
   * In one process, requests for the same preview share one rendering. Another process may render it too, and stores
   * the same bytes.
   */
  private makeOnce(key: string, file: OutputFile, width: PreviewWidth): Promise<Buffer> {
    let making = this.making.get(key);
    if (!making) {
      if (this.making.size >= MAX_WAITING) throw new ApiError('service_unavailable');
      const signal = AbortSignal.timeout(PATIENCE_MS);
      making = this.turns
        .take(file.apiKeyId, signal, () => this.make(key, file, width))
        .catch((error: unknown) => {
          throw error === signal.reason ? new ApiError('service_unavailable', { cause: error }) : error;
        })
        .finally(() => this.making.delete(key));
      this.making.set(key, making);
    }
    return making;
  }

  private async make(key: string, file: OutputFile, width: PreviewWidth): Promise<Buffer> {
    const sourceKey = sourceKeyOf(file.output);
    if (sourceKey === undefined) {
      throw new ApiError('variant_not_available', { message: 'This film has no still.' });
    }
    const { type, width: across, height } = file.output;
    if (type === 'image' && across * height > MAX_PIXELS) {
      throw new ApiError('variant_not_available', { message: 'This picture is too large for a preview.' });
    }
    try {
      const bytes = await this.render(sourceKey, width);
      await this.storage.putAtomically(key, bytes, 'image/webp');
      if (await this.isKept(key, file)) return bytes;
    } catch (error) {
      if (await this.isKept(key, file)) throw error;
    }
    throw new ApiError('file_expired');
  }

  /**
   * Checks the file again after its preview was stored, and deletes the preview if the file is gone. A deletion during
   * the rendering found no preview to remove.
   */
  private async isKept(key: string, file: OutputFile): Promise<boolean> {
    const now = await this.files.findAgain(file);
    if (now?.isPresent) return true;
    if (now && now.expiresAt.getTime() > Date.now()) await this.storage.delete(key);
    else await this.storage.deleteAll(`${file.task.id}/`); // all files of the task, so that no folder is left
    return false;
  }

  private async render(sourceKey: string, width: PreviewWidth): Promise<Buffer> {
    const { default: sharp } = await import('sharp'); // before the source is opened, so that errors of the source have a listener at once
    const source = await this.storage.open(sourceKey);
    const still = sharp({ limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: 'none' })
      .timeout({ seconds: TIMEOUT_S })
      .autoOrient()
      .resize(width, width, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality: QUALITY });
    source.on('error', (error) => still.destroy(error));
    return source.pipe(still).toBuffer();
  }
}
