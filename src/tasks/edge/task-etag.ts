import type { ShownTask } from '../record/task.entity.ts';
import { filesPresent } from '../read/task.view.ts';

/**
 * The ETag of a task's view. Weak, because links to files change while the task does not. It changes with every visible
 * change, when the files are deleted, and as links do, four times within the lifetime of a link, so that a body that a
 * client reuses after 304 never contains an expired link.
 */
export function etagOf(task: ShownTask, linkTtlS: number, nowMs: number = Date.now()): string {
  if (task.status !== 'succeeded') return `W/"${task.sequence}"`;
  const period = filesPresent(task, nowMs) ? Math.floor(nowMs / (linkTtlS * 250)) : 'purged';
  return `W/"${task.sequence}-${period}"`;
}

/** The task sequence in one of our tags; undefined for any other tag. */
export function sequenceIn(ifNoneMatch: string | undefined): number | undefined {
  const [, sequence] = /^(?:W\/)?"([0-9]{1,9})(?:-[0-9a-z]+)?"$/.exec(ifNoneMatch?.trim() ?? '') ?? [];
  return sequence === undefined ? undefined : Number(sequence);
}
