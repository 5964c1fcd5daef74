import { Args, Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { PREVIEW_WIDTHS } from '../../tasks/read/preview-key.ts';
import { storedOutputOf, storedTaskOf } from '../../tasks/read/task-views.ts';
import { isPresent, TaskOutputView, TaskView } from '../../tasks/read/task.view.ts';
import { PreviewLinks } from './preview-links.ts';
import { FilePreviewView } from './preview.view.ts';

const Width = (byDefault: number): ParameterDecorator =>
  Args('width', {
    type: () => Int,
    nullable: true,
    defaultValue: byDefault,
    description: `pixels of the longest side: ${PREVIEW_WIDTHS.join(', ')}`,
  });

@Resolver(() => TaskOutputView)
export class OutputPreviewResolver {
  constructor(private readonly links: PreviewLinks) {}

  @ResolveField(() => FilePreviewView, {
    nullable: true,
    description: 'a small still; null once the file is deleted, and for a film without one',
  })
  preview(@Parent() view: TaskOutputView, @Width(512) width: number | null): FilePreviewView | null {
    const { task, output } = storedOutputOf(view);
    return this.links.of(task, output, width ?? 512);
  }
}

@Resolver(() => TaskView)
export class TaskCoverResolver {
  constructor(private readonly links: PreviewLinks) {}

  @ResolveField(() => FilePreviewView, {
    nullable: true,
    description: 'a small still of the first output that is still there; null without one',
  })
  cover(@Parent() view: TaskView, @Width(256) width: number | null): FilePreviewView | null {
    const task = storedTaskOf(view);
    return this.links.of(
      task,
      task.result?.find((output) => isPresent(task, output)),
      width ?? 256,
    );
  }
}
