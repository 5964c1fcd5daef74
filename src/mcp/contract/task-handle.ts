import { isFinal, POLL_AFTER_S, type ShownTask } from '../../tasks/record/task.entity.ts';

/** The protocol extension that shows tasks of this service as tasks of the protocol. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** How the extension shows a task. */
export interface ProtocolTask {
  taskId: string;
  status: 'working' | 'completed' | 'cancelled';
  statusMessage: string;
  /** ISO 8601. */
  createdAt: string;
  lastUpdatedAt: string;
  /** Milliseconds from the creation; null if the task is kept. */
  ttlMs: number | null;
  pollIntervalMs: number;
}

/** The answer to a tool call whose result the client fetches later. */
export interface TaskHandle extends ProtocolTask {
  resultType: 'task';
  [field: string]: unknown;
}

export function protocolTaskOf(task: ShownTask, statusMessage: string): ProtocolTask {
  const updatedAt = task.completed_at ?? task.started_at ?? task.created_at;
  return {
    taskId: task.id,
    status: statusOf(task),
    statusMessage,
    createdAt: task.created_at.toISOString(),
    lastUpdatedAt: updatedAt.toISOString(),
    ttlMs: task.kept_at ? null : task.expires_at.getTime() - task.created_at.getTime(),
    pollIntervalMs: POLL_AFTER_S[task.kind] * 1000,
  };
}

/**
 * A failed task is `completed` with an error in its result: the extension reserves `failed` for faults of the protocol.
 */
function statusOf({ status, error }: ShownTask): ProtocolTask['status'] {
  if (!isFinal(status)) return 'working';
  return error?.code === 'task_cancelled' ? 'cancelled' : 'completed';
}

export const handleOf = (task: ShownTask, statusMessage: string): TaskHandle => ({
  resultType: 'task',
  ...protocolTaskOf(task, statusMessage),
});

/** The state of an unfinished task, in a few words. */
export const progressText = ({ status, progress }: Pick<ShownTask, 'status' | 'progress'>): string =>
  status === 'queued' ? 'Waiting for a place to run.' : `Running, ${progress} %.`;
