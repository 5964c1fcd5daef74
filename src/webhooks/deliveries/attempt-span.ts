import { traces } from '../../platform/traces/traces.ts';
import type { ClaimedDispatch } from '../sql/claim-dispatches.ts';
import type { FinishedDelivery } from '../sql/finish-deliveries.ts';

/**
 * The span of one attempt. The first continues the trace that created the task. Later ones, which may come days after
 * it, have traces of their own that link it. The address belongs to a customer, so no attribute has it and no
 * traceparent is sent to it.
 */
export function inAttemptSpan(
  { trace_parent: creation, event_id, attempt, trigger }: ClaimedDispatch,
  make: () => Promise<FinishedDelivery>,
): Promise<FinishedDelivery> {
  const isFirst = attempt === 1 && trigger !== 'manual';
  const options = {
    kind: 'client' as const,
    ...(isFirst || creation === null ? { parent: creation } : { isRoot: true, links: [creation] }),
    attributes: { 'darkroom.event.id': event_id, 'darkroom.attempt': attempt },
  };
  return traces.span('webhook attempt', options, async (span) => {
    const finished = await make();
    span?.set({ 'darkroom.outcome': finished.outcome, 'http.response.status_code': finished.status_code });
    if (finished.error !== null) span?.fail(finished.error);
    return finished;
  });
}
