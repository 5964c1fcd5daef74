import type { ServerContext } from '@modelcontextprotocol/server';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import { progressText } from '../contract/task-handle.ts';

const LEAST_MS_BETWEEN = 1_000;

/**
 * Reports the progress of a task to a client that sent a progress token: each time the progress rises, at most once a
 * second.
 */
export function progressReports({ mcpReq }: ServerContext): (task: ShownTask) => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let last = -1;
  let lastAtMs = -Infinity;
  return (task) => {
    if (task.progress <= last || performance.now() - lastAtMs < LEAST_MS_BETWEEN) return;
    last = task.progress;
    lastAtMs = performance.now();
    const params = { progressToken, progress: last, total: 100, message: progressText(task) };
    // An error only means that the client has gone.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
