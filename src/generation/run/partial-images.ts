import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { type Conversion, ImageConversions } from '../images/image-conversions.ts';
import type { Lease } from './running-tasks.ts';

const CONTENT_TYPES = { png: 'image/png', jpeg: 'image/jpeg', webp: 'image/webp' } as const;

/**
 * Early stages of a picture. The images are stored in the folder of their task, and deleted with its files. A stored
 * image raises the progress of its task, up to 99. So to follow the images, watch the task and look for the next image
 * after each change. After the final state, look until there is no next image, because changes can be merged. Each
 * claim of a task numbers its images from 0.
 */
@Injectable()
export class PartialImages {
  constructor(
    private readonly storage: Storage,
    private readonly conversions: ImageConversions,
  ) {}

  /**
   * Stores a partial image in the format that the task asks for, or else as the provider made it.
   * @param nth from 0
   */
  async store(lease: Lease, nth: number, image: Buffer, conversion: Conversion): Promise<void> {
    const body = await this.conversions.convert(image, conversion, lease.signal);
    const key = keyOf(lease.id, lease.attempt, nth);
    await this.storage.put(key, body, CONTENT_TYPES[conversion.wanted?.format ?? 'png']);
    // A second file says that the image is complete, because a reader may look for the image while it is being written.
    await this.storage.put(markerOf(key), Buffer.from('stored'), 'text/plain');
  }

  /**
   * The caller must have checked that the client may read the task.
   * @param attempt the attempt of the task when the caller read the task
   * @param nth from 0
   * @returns null while there is no such partial image
   */
  async find(taskId: string, attempt: number, nth: number): Promise<Readable | null> {
    const key = keyOf(taskId, attempt, nth);
    try {
      await this.storage.size(markerOf(key));
      return await this.storage.open(key);
    } catch (error) {
      if (error instanceof StoredFileMissing) return null;
      throw error;
    }
  }
}

const keyOf = (taskId: string, attempt: number, nth: number): string => `${taskId}/partial-${attempt}-${nth}`;
const markerOf = (key: string): string => `${key}.stored`;
