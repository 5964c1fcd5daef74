import type { ShownTask } from './task.entity.ts';
import { filesPresent } from './task.view.ts';

/**
 * The tag of a task as shown. Weak, since each read signs its links anew. It changes with every visible change, when
 * the files go, and four times within the life of a link: a body that a client keeps on our 304 never holds a dead one.
 */
export function etagOf(task: ShownTask, linkTtlS: number, nowMs: number = Date.now()): string {
  if (task.status !== 'succeeded') return `W/"${task.sequence}"`;
  const period = filesPresent(task, nowMs) ? Math.floor(nowMs / (linkTtlS * 250)) : 'purged';
  return `W/"${task.sequence}-${period}"`;
}

/** Does `If-None-Match` name this tag? Weak comparison (RFC 9110, 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}

/** The sequence a tag of ours speaks of; undefined for a foreign one. */
export function sequenceIn(ifNoneMatch: string | undefined): number | undefined {
  const [, sequence] = /^(?:W\/)?"([0-9]{1,9})(?:-[0-9a-z]+)?"$/.exec(ifNoneMatch?.trim() ?? '') ?? [];
  return sequence === undefined ? undefined : Number(sequence);
}
