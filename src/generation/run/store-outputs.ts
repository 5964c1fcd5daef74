import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Storage } from '../../platform/storage/storage.ts';
import type { StoredOutput } from '../../tasks/task.entity.ts';
import { fileIdOf } from '../../tasks/task-id.ts';
import { probe } from './probe.ts';
import { ProviderError, type ProviderOutput } from '../../providers/provider.ts';
import type { Lease } from './running-tasks.ts';

/** Stores a provider's outputs. Each claim writes under its own names, so a late claim overwrites nothing. */
@Injectable()
export class StoreOutputs {
  constructor(private readonly storage: Storage) {}

  /** @throws ProviderError result_storage_failed; internal_error when an output is neither an image nor a video */
  async store(lease: Lease, outputs: ProviderOutput[]): Promise<StoredOutput[]> {
    return Promise.all(outputs.map((output, index) => this.storeOne(lease, output, index)));
  }

  private async storeOne(lease: Lease, output: ProviderOutput, index: number): Promise<StoredOutput> {
    const media = await probe(output);
    const key = `${lease.id}/${lease.attempt}-${index}.${media.extension}`;
    try {
      await this.storage.put(key, output, media.contentType);
    } catch (error) {
      throw new ProviderError('result_storage_failed', { cause: error });
    }
    return {
      id: fileIdOf(lease.id, index),
      index,
      type: media.type,
      storage_key: key,
      content_type: media.contentType,
      size_bytes: Buffer.isBuffer(output) ? output.length : (await stat(output.path)).size,
      width: media.width,
      height: media.height,
      ...(media.duration === undefined ? {} : { duration: media.duration }),
      sha256: await sha256(output),
    };
  }
}

async function sha256(output: ProviderOutput): Promise<string> {
  const hash = createHash('sha256');
  if (Buffer.isBuffer(output)) hash.update(output);
  else await pipeline(createReadStream(output.path), hash);
  return hash.digest('hex');
}
