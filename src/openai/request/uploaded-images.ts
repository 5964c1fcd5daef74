import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { FilesService } from '../../files/uploads/files.service.ts';
import { atField, RequestImagesService } from '../../files/images/request-images.service.ts';
import type { FormFile } from '../../platform/http/multipart/multipart-body.ts';

/** A picture that a request names or contains, with the client's spelling of its field. */
export type RequestImage = { spelling: string } & ({ reference: string } | { file: FormFile });

/** What a creation returns about its task. */
interface Created {
  replayed: boolean;
  /** null: the response of an earlier request was returned, and no task was created. */
  task: { id: string; expires_at: Date } | null;
}

/**
 * Stores the pictures that requests contain, so that a task can name them. The stored pictures are deleted with the
 * files of the task.
 */
@Injectable()
export class UploadedImages {
  constructor(
    private readonly files: FilesService,
    private readonly lifetime: RequestImagesService,
  ) {}

  /**
   * Calls `create` with the reference of each picture, in order. If no task is created, the stored pictures are
   * deleted.
   * @throws ApiError invalid_image and file_quota_exceeded, with the client's spelling; and whatever `create` throws
   */
  async with<Result extends Created>(
    caller: Caller,
    images: readonly RequestImage[],
    create: (references: string[]) => Promise<Result>,
  ): Promise<Result> {
    const stored = { replaced: new Map<string, string>(), created: [] as string[] };
    let task: Created['task'] = null;
    try {
      const references: string[] = [];
      for (const image of images) {
        if ('file' in image) stored.created.push(await this.store(caller, image));
        references.push('file' in image ? stored.created.at(-1)! : image.reference);
      }
      const created = await create(references);
      task = created.task;
      return created;
    } finally {
      await (task ? this.lifetime.attach(stored, task) : this.lifetime.forget(stored));
    }
  }

  private async store(caller: Caller, { file, spelling }: RequestImage & { file: FormFile }): Promise<string> {
    const { filename } = file;
    const create = () => this.files.create(caller, file, { purpose: 'vision', filename, ofTask: true });
    return (await atField(spelling, create)).id;
  }
}
