import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { KeyLimits } from '../../auth/api-keys/key-limits.ts';
import { HOUR_S } from '../../platform/schema/time.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { ReserveUploads } from '../sql/reserve-uploads.ts';
import { FilesService } from '../uploads/files.service.ts';

/** How long after the deadline of its task a linked image can still be read, in seconds. */
const AFTER_DEADLINE_S = HOUR_S;

interface OwnedTask {
  id: string;
  api_key_id: string;
  deadline_at: Date;
}

/** Images that a provider fetches by a link, because their bytes are not in the request to the provider. */
@Injectable()
export class LinkedImages {
  constructor(
    private readonly files: FilesService,
    private readonly reserving: ReserveUploads,
    private readonly keys: KeyLimits,
    private readonly links: FileLinks,
  ) {}

  /**
   * Stores the bytes as a file that came inside the task's request, and counts them against the same quota. The file is
   * deleted with the files of the task, or when the link expires if that is earlier. The same bytes are stored once,
   * however often the task is tried.
   * @returns the link
   * @throws ApiError file_quota_exceeded
   */
  async link(task: OwnedTask, bytes: Buffer): Promise<string> {
    const id = (await this.files.ofTask(task.id, hash('sha256', bytes, 'hex'))) ?? (await this.store(task, bytes));
    const endS = Math.ceil(task.deadline_at.getTime() / 1000) + AFTER_DEADLINE_S;
    await this.reserving.attach([id], task.id, endS * 1000);
    return this.links.signUntil(id, endS).url;
  }

  private async store(task: OwnedTask, bytes: Buffer): Promise<string> {
    const owner = await this.keys.of(task.api_key_id);
    const { id } = await this.files.create(owner, bytes, { purpose: 'vision', filename: null, ofTask: true });
    return id;
  }
}
