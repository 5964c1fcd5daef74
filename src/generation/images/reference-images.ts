import { Injectable } from '@nestjs/common';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { Outbound } from '../../platform/outbound/outbound.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';
import { ProviderError, type InputImage } from '../../providers/provider.ts';
import { NotAStillImage, readStillImage } from './still-image.ts';

const MAX_AT_ONCE = 4;
const MAX_BYTES = 20 * 1000 * 1000;
const MAX_REDIRECTS = 3;
/** For all the images of one task together. */
const TIMEOUT_MS = 60_000;

/** An input field that holds the URL of an image: `reference_images[2]`, `first_frame_image_url`. */
export interface ImageField {
  param: string;
  url: string;
}

/** Fetches the images that clients refer to, and hands them on only once they are known to be images. */
@Injectable()
export class ReferenceImages {
  constructor(private readonly outbound: Outbound) {}

  /**
   * A URL named twice is fetched once. The first failure ends all.
   * @returns the images in the order of the fields
   * @throws ProviderError reference_image_fetch_failed (one message for every cause, lest we tell what stands in the
   *   network around us), reference_image_invalid; both with the `param` of the first field of that URL
   * @throws the reason of the signal
   */
  async fetchAll(fields: readonly ImageField[], signal: AbortSignal): Promise<InputImage[]> {
    signal.throwIfAborted();
    const paramOf = new Map(fields.toReversed().map(({ param, url }) => [url, param]));
    const waiting = fields.map(({ url }) => url).filter((url, i, all) => all.indexOf(url) === i);
    const images = new Map<string, InputImage>();
    const deadline = Date.now() + TIMEOUT_MS;
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);

    const fetchInTurn = async () => {
      for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
        images.set(url, await this.fetchOne({ param: paramOf.get(url)!, url }, deadline, either));
      }
    };
    try {
      await Promise.all(Array.from({ length: MAX_AT_ONCE }, fetchInTurn));
    } catch (error) {
      failed.abort(error);
      throw error;
    }
    return fields.map(({ url }) => images.get(url)!);
  }

  private async fetchOne({ param, url }: ImageField, deadline: number, signal: AbortSignal): Promise<InputImage> {
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
        if (status < 200 || status > 299) throw new OutboundError('http_status', `answered ${status}`);
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
