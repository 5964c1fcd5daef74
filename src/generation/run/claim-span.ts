import { createHash } from 'node:crypto';
import { parseTraceparent, toTraceparent } from '../../platform/traces/traceparent.ts';
import { traces } from '../../platform/traces/traces.ts';
import type { ClaimedTask } from '../../tasks/queue/lease.ts';

/**
 * Runs a claim in a span of the trace that created the task. The id of the span follows from the claim, so that the
 * next claim links it although another process, which may be dead, has made it.
 */
export function inClaimSpan(task: ClaimedTask, work: () => Promise<void>): Promise<void> {
  const created = traces.isOn ? parseTraceparent(task.trace_parent) : null;
  if (!created) return traces.span('generate', { parent: null }, work);
  const { id, attempt, model } = task;
  const { traceId } = created;
  const before = { traceId, spanId: spanIdOf(id, attempt - 1) };
  const options = {
    kind: 'consumer' as const,
    parent: task.trace_parent,
    spanId: spanIdOf(id, attempt),
    links: attempt > 1 ? [toTraceparent(before)] : [],
    attributes: { 'darkroom.task.id': id, 'darkroom.attempt': attempt, 'gen_ai.request.model': model },
  };
  return traces.span(`generate ${model}`, options, async (span) => {
    try {
      await work();
    } finally {
      span?.set({ 'darkroom.provider': task.provider });
    }
  });
}

const spanIdOf = (taskId: string, attempt: number): string =>
  createHash('sha256').update(`${taskId} ${attempt}`).digest('hex').slice(0, 16);
