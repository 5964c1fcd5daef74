import { Injectable } from '@nestjs/common';
import type { ImageUrl } from '../../models/image-urls.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { Outbound } from '../../platform/outbound/outbound.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';
import { ProviderError, type InputImage } from '../../providers/provider.ts';
import { NotAStillImage, readStillImage } from './still-image.ts';

const MAX_CONCURRENT = 4;
const MAX_BYTES = 20 * 1000 * 1000;
const MAX_REDIRECTS = 3;
/** For all the images of one task together. */
const TIMEOUT_MS = 60_000;

/** Downloads the images of a request and checks that they are images. */
@Injectable()
export class ReferenceImages {
  constructor(private readonly outbound: Outbound) {}

  /**
   * Fetches a repeated URL once. The first failure aborts the other downloads.
   * @returns the images in the order of the fields
   * @throws ProviderError reference_image_fetch_failed or reference_image_invalid, with the `param` of the URL's first field. A
   *   failed fetch has one message for every cause, so that it reveals nothing about the network around this service.
   * @throws the signal's reason
   */
  async fetchAll(fields: readonly ImageUrl[], signal: AbortSignal): Promise<InputImage[]> {
    signal.throwIfAborted();
    const paramOf = new Map(fields.toReversed().map(({ param, url }) => [url, param]));
    const queue = fields.map(({ url }) => url).filter((url, i, all) => all.indexOf(url) === i);
    const images = new Map<string, InputImage>();
    const deadline = Date.now() + TIMEOUT_MS;
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);

    const fetchFromQueue = async () => {
      for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
        images.set(url, await this.fetchOne({ param: paramOf.get(url)!, url }, deadline, either));
      }
    };
    try {
      await Promise.all(Array.from({ length: MAX_CONCURRENT }, fetchFromQueue));
    } catch (error) {
      failed.abort(error);
      throw error;
    }
    return fields.map(({ url }) => images.get(url)!);
  }

  private async fetchOne({ param, url }: ImageUrl, deadline: number, signal: AbortSignal): Promise<InputImage> {
    try {
      return await withTimeout(Math.max(1, deadline - Date.now()), signal, async (fetching) => {
        const { status, body } = await this.outbound.request(url, {
          purpose: 'image',
          method: 'GET',
          headers: { accept: 'image/jpeg, image/png, image/webp' },
          timeoutMs: TIMEOUT_MS,
          maxResponseBytes: MAX_BYTES,
          maxRedirects: MAX_REDIRECTS,
          signal: fetching,
        });
        if (status < 200 || status > 299) throw new OutboundError('http_status', `status ${status}`);
        return readStillImage(body, fetching);
      });
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof NotAStillImage || (cause instanceof OutboundError && cause.kind === 'too_large')) {
        throw new ProviderError('reference_image_invalid', { param, cause });
      }
      if (cause instanceof OutboundError) throw new ProviderError('reference_image_fetch_failed', { param, cause });
      throw cause;
    }
  }
}
