import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { isPreviewWidth, PREVIEW_WIDTHS } from '../../tasks/read/preview-key.ts';
import type { ShownTask, StoredOutput } from '../../tasks/record/task.entity.ts';
import { endOf, isPresent } from '../../tasks/read/task.view.ts';
import { previewSizeOf, sourceKeyOf } from './preview-size.ts';
import type { FilePreviewView } from './preview.view.ts';

/** Makes links only: the preview itself is made when the link is first read. */
@Injectable()
export class PreviewLinks {
  constructor(private readonly links: FileLinks) {}

  /**
   * @returns null when there is no output, its file is gone, or a video has no still
   * @throws ApiError invalid_value
   */
  of(task: ShownTask, output: StoredOutput | undefined, width: number): FilePreviewView | null {
    if (!isPreviewWidth(width)) {
      const message = `width must be ${PREVIEW_WIDTHS.join(', ')}.`;
      throw new ApiError('invalid_value', { param: 'width', message });
    }
    if (!output || !isPresent(task, output) || sourceKeyOf(output) === undefined) return null;
    const { url, expiresAt } = this.links.signPreview(output.id, width, endOf(task, output));
    return { url, url_expires_at: expiresAt, ...previewSizeOf(output, width) };
  }
}
