import { Injectable } from '@nestjs/common';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { filenameOf } from '../../files/record/file.view.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import { TaskViews } from '../../tasks/read/task-views.ts';
import type { TaskOutputView } from '../../tasks/read/task.view.ts';
import type { PreviewChoice } from '../schemas/tool-arguments.ts';
import { Previews } from './previews.ts';
import { taskText } from './task-text.ts';

interface ShowOptions {
  preview: PreviewChoice;
  /** Whether a failed task makes this call a failure. */
  isCause: boolean;
  /** Aborts when no client waits for the result any more. */
  gone: AbortSignal;
}

/** Shows tasks as results of tools: text, links, small pictures, and the task itself as GET shows it. */
@Injectable()
export class TaskResults {
  constructor(
    private readonly views: TaskViews,
    private readonly previews: Previews,
  ) {}

  async of(task: ShownTask, { preview, isCause, gone }: ShowOptions): Promise<CallToolResult> {
    const view = this.views.of(task);
    const pictures = preview === 'inline' ? await this.previews.of(task, gone) : [];
    const content: ContentBlock[] = [
      { type: 'text', text: taskText(view) },
      ...(view.result?.outputs ?? []).flatMap(linkTo),
      ...pictures.map((picture) => ({ type: 'image' as const, ...picture })),
    ];
    return {
      content,
      structuredContent: { ...view },
      ...(isCause && task.status === 'failed' && { isError: true }),
    };
  }
}

function linkTo({ id, url, content_type: mimeType, size_bytes: size }: TaskOutputView): ContentBlock[] {
  return url === null ? [] : [{ type: 'resource_link', uri: url, name: filenameOf(id, mimeType), mimeType, size }];
}
