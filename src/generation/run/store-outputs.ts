import { Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { free } from '../../platform/run/owned-bytes.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { Provenance } from '../../provenance/provenance.ts';
import type { StoredOutput } from '../../tasks/record/task.entity.ts';
import { fileIdOf } from '../../tasks/record/task-id.ts';
import { FreshOutputs } from './fresh-outputs.ts';
import { type Conversion, ImageConversions } from '../images/image-conversions.ts';
import { probe } from '../images/probe.ts';
import type { ProviderOutput } from '../../providers/contract/provider.ts';
import type { Lease } from './running-tasks.ts';
import { Thumbnails } from '../images/thumbnails.ts';

/** The pause between attempts to store a file. It doubles from the first to the last. */
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 15_000;

/** Stores a provider's outputs. Each claim writes under its own names, so a late claim overwrites nothing. */
@Injectable()
export class StoreOutputs {
  private readonly logger = new Logger('outputs');
  /** The number of files that wait for the storage to work again. */
  private waiting = 0;

  constructor(
    private readonly storage: Storage,
    private readonly provenance: Provenance,
    private readonly thumbnails: Thumbnails,
    private readonly conversions: ImageConversions,
    private readonly fresh: FreshOutputs,
  ) {}

  /** Whether the storage fails. Then nothing should be bought, because the result could not be stored. */
  get isFailing(): boolean {
    return this.waiting > 0;
  }

  /**
   * Retries until the run is stopped, because the result is paid for.
   * @throws ProviderError internal_error when an output cannot be read or converted; the signal's reason
   */
  async store(
    lease: Lease,
    outputs: ProviderOutput[],
    { model, conversion, seeds = [] }: { model: string; conversion: Conversion; seeds?: readonly number[] },
  ): Promise<StoredOutput[]> {
    const failed = new AbortController();
    const storing = { ...lease, signal: AbortSignal.any([lease.signal, failed.signal]) };
    const store = async (made: ProviderOutput, index: number) => {
      const body = await this.conversions.convert(made, conversion, storing.signal);
      if (body !== made) free(made);
      const stored = await this.storeOne(storing, { body, model }, index);
      return seeds[index] === undefined ? stored : { ...stored, seed: seeds[index] };
    };
    try {
      return await Promise.all(outputs.map(store));
    } catch (error) {
      // The other writes must stop. Their files are deleted with the run, so each write would fail and be retried for
      // ever. Meanwhile `isFailing` would keep other tasks from buying anything.
      failed.abort(error);
      throw error;
    }
  }

  private async storeOne(
    lease: Lease,
    { body, model }: { body: ProviderOutput; model: string },
    index: number,
  ): Promise<StoredOutput> {
    const media = await probe(body);
    const output = await this.provenance.mark({ body, model, taskId: lease.id, contentType: media.contentType });
    if (output !== body) free(body);
    const key = `${lease.id}/${lease.attempt}-${index}.${media.extension}`;
    await this.put(lease, key, () => this.storage.put(key, output, media.contentType));
    const thumbnail = media.type === 'video' ? await this.storeThumbnail(body, `${key}.webp`) : null;
    const stored: StoredOutput = {
      id: fileIdOf(lease.id, index),
      index,
      type: media.type,
      storage_key: key,
      ...(thumbnail !== null && { thumbnail_key: thumbnail }),
      content_type: media.contentType,
      size_bytes: Buffer.isBuffer(output) ? output.length : (await stat(output.path)).size,
      width: media.width,
      height: media.height,
      ...(media.duration === undefined ? {} : { duration: media.duration }),
      sha256: await sha256(output),
    };
    if (!this.fresh.keep(lease.id, key, output)) free(output);
    return stored;
  }

  /** Tried once, because a video without a thumbnail is better than a late video. */
  private async storeThumbnail(output: ProviderOutput, key: string): Promise<string | null> {
    const bytes = await this.thumbnails.of(output);
    if (bytes === null) return null;
    return this.storage.put(key, bytes, 'image/webp').then(
      () => key,
      (err: unknown) => {
        this.logger.warn({ event: 'thumbnail.failed', key, err });
        return null;
      },
    );
  }

  private async put({ id, signal }: Lease, key: string, put: () => Promise<void>): Promise<void> {
    const firstFailure = await put().then(() => null, toError);
    if (!firstFailure) return;
    this.logger.error({ event: 'storage.failed', task_id: id, key, err: firstFailure });
    this.waiting += 1;
    try {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
        await sleep(pauseMs, undefined, { signal });
        if (!(await put().then(() => null, toError))) break;
      }
      this.logger.log({ event: 'storage.recovered', task_id: id, key });
    } finally {
      this.waiting -= 1;
    }
  }
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

async function sha256(output: ProviderOutput): Promise<string> {
  const hash = createHash('sha256');
  if (Buffer.isBuffer(output)) hash.update(output);
  else await pipeline(createReadStream(output.path), hash);
  return hash.digest('hex');
}
