import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { StoredImages } from '../../files/images/stored-images.ts';
import type { ImageUrl } from '../../models/definition/parameters.ts';
import { StoredFileMissing } from '../../platform/storage/storage.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { Outbound } from '../../platform/outbound/outbound.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';
import { ProviderError, type InputImage, type ProviderRequest } from '../../providers/contract/provider.ts';
import { NotAStillImage, readStillImage } from '../../platform/images/still-image.ts';
import { Turns } from '../../platform/run/turns.ts';
import { onWhite } from '../../platform/images/on-white.ts';
import { preparedImage } from './prepared-image.ts';

export const NO_IMAGES: ProviderRequest['images'] = { references: [], firstFrame: null };

const MAX_CONCURRENT = 4;
const MAX_BYTES = 20 * 1000 * 1000;
const MAX_REDIRECTS = 3;
/**
 * The time to download all images of one task. Waiting for a turn to check an image does not count, because that
 * depends on other tasks.
 */
const TIMEOUT_MS = 60_000;

/** The storage, or the database that lists its files, could not be read. The image is not at fault. */
export class StorageAway extends Error {
  constructor(cause: unknown) {
    super('The storage cannot be read.', { cause });
  }
}

interface Fetch {
  /** The API key of the task. The keys take turns at checks. */
  apiKeyId: string;
  folder: string;
  signal: AbortSignal;
}

/**
 * Gets the images of a request and checks that they are images. Files of this service are read from the storage, and
 * all others are downloaded. The images are written to files as they arrive, because a request may have 320 MB of them.
 * Of all images of the process, this class has only one in memory at a time: the one that it checks.
 */
@Injectable()
export class ReferenceImages {
  private readonly checks = new Turns();

  constructor(
    private readonly outbound: Outbound,
    private readonly stored: StoredImages,
  ) {}

  /**
   * Bytes that the images of these fields may need on disk. A large file of this service needs room for its smaller
   * copy too.
   */
  async mostBytesOf(fields: readonly ImageUrl[]): Promise<number> {
    const most = await Promise.all(
      urlsOf(fields).map(async (url) => {
        const fileId = this.stored.fileIdIn(url);
        const bytes = fileId === null ? 0 : ((await this.stored.find(fileId))?.bytes ?? 0);
        return bytes > MAX_BYTES ? bytes + MAX_BYTES : MAX_BYTES;
      }),
    );
    return most.reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * Fetches a repeated URL once. The first failure aborts the other downloads.
   * @returns the images in the order of the fields
   * @throws ProviderError reference_image_fetch_failed or reference_image_invalid, with the `param` of the URL's first
   *   field. A failed fetch has one message for every cause, so that it reveals nothing about the network around this
   *   service.
   * @throws StorageAway; the signal's reason
   */
  async fetchAll(fields: readonly ImageUrl[], { apiKeyId, folder, signal }: Fetch): Promise<InputImage[]> {
    signal.throwIfAborted();
    const paramOf = new Map(fields.toReversed().map(({ param, url }) => [url, param]));
    const queue = urlsOf(fields);
    const images = new Map<string, Promise<InputImage>>();
    const deadline = Date.now() + TIMEOUT_MS;
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);

    const fetchFromQueue = async () => {
      for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
        const param = paramOf.get(url)!;
        const path = join(folder, `image-${images.size}`);
        const fetched = withParam(param, either, () => this.fetch(url, path, deadline, either));
        const checked = fetched.then(() =>
          this.checks.take(apiKeyId, either, () => withParam(param, either, () => check(path))),
        );
        checked.catch((error: unknown) => failed.abort(error)); // stops the other downloads at once
        images.set(url, checked);
        await fetched;
      }
    };
    try {
      await Promise.all(Array.from({ length: MAX_CONCURRENT }, fetchFromQueue));
      return await Promise.all(fields.map(({ url }) => images.get(url)!));
    } catch (error) {
      failed.abort(error);
      signal.throwIfAborted();
      throw failed.signal.reason; // the first failure, which caused the later ones
    } finally {
      await Promise.allSettled(images.values()); // afterwards nothing writes to the folder
    }
  }

  private async fetch(url: string, path: string, deadline: number, signal: AbortSignal): Promise<void> {
    await withTimeout(Math.max(1, deadline - Date.now()), signal, async (fetching) => {
      const fileId = this.stored.fileIdIn(url);
      if (fileId !== null) return this.read(fileId, path, fetching);
      const { status } = await this.outbound.request(url, {
        purpose: 'image',
        method: 'GET',
        headers: { accept: 'image/jpeg, image/png, image/webp' },
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: MAX_BYTES,
        maxRedirects: MAX_REDIRECTS,
        saveTo: path,
        signal: fetching,
      });
      if (status < 200 || status > 299) throw new OutboundError('http_status', `status ${status}`);
    });
  }

  /** @throws StoredFileMissing; the signal's reason; StorageAway, after which the task can be tried again */
  private async read(fileId: string, path: string, signal: AbortSignal): Promise<void> {
    try {
      const image = await this.stored.find(fileId);
      if (!image) throw new StoredFileMissing(fileId);
      await this.stored.save(image, path, signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw cause instanceof StoredFileMissing ? cause : new StorageAway(cause);
    }
  }
}

function urlsOf(fields: readonly ImageUrl[]): string[] {
  return [...new Set(fields.map(({ url }) => url))];
}

async function check(path: string): Promise<InputImage> {
  if ((await stat(path)).size > MAX_BYTES) await shrink(path);
  const bytes = await readFile(path);
  const image = await readStillImage(bytes);
  const { bytes: handedOn, contentType } = await preparedImage(bytes, image, MAX_BYTES);
  if (handedOn !== bytes) await writeFile(path, handedOn);
  return { ...image, path, size: handedOn.length, contentType };
}

/**
 * Turns a file of this service that is larger than MAX_BYTES into a JPEG, with white where it is transparent. A PNG of
 * 26 MB with 16 megapixels becomes some 10 MB.
 */
async function shrink(path: string): Promise<void> {
  const smaller = `${path}.jpeg`;
  const { default: sharp } = await import('sharp');
  await onWhite(sharp(path, { sequentialRead: true }).rotate())
    .jpeg({ quality: 95 })
    .toFile(smaller);
  await rename(smaller, path);
}

/** Turns a faulty image or a failed fetch in `work` into an error that names the field of the image. */
async function withParam<Result>(param: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof NotAStillImage || (cause instanceof OutboundError && cause.kind === 'too_large')) {
      throw new ProviderError('reference_image_invalid', { param, cause });
    }
    if (cause instanceof StoredFileMissing) throw new ProviderError('reference_image_fetch_failed', { param, cause });
    if (cause instanceof OutboundError) throw new ProviderError('reference_image_fetch_failed', { param, cause });
    throw cause;
  }
}
