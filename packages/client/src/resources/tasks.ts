import type { CallOptions, Transport } from '../http/transport.ts';
import { type Pages, pages } from '../pages.ts';
import type {
  CancelCounts,
  CancelTasksInput,
  DeletedTask,
  Task,
  TaskEstimate,
  TaskFilter,
  TaskTimeline,
} from '../types.gen.ts';

export type ListTasks = TaskFilter & { limit?: number; after?: string; order?: 'asc' | 'desc' };

/** The tasks of the API key. */
export class Tasks {
  constructor(private readonly transport: Transport) {}

  /** Newest first, unless `order` is `asc`. */
  list(query: ListTasks = {}, options: CallOptions = {}): Pages<Task> {
    return pages(this.transport, '/v1/tasks', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Task> {
    return this.transport.json('GET', pathOf(id), options);
  }

  /** Cancels the tasks with these ids, or those that a filter selects. */
  cancel(selection: CancelTasksInput, options: CallOptions = {}): Promise<CancelCounts> {
    return this.transport.json('POST', '/v1/tasks/cancel', { ...options, body: selection, isRepeatable: true });
  }

  /** Deletes the task with its files. An unfinished task is cancelled first. */
  delete(id: string, options: CallOptions = {}): Promise<DeletedTask> {
    return this.transport.json('DELETE', pathOf(id), options);
  }

  /**
   * Keeps a final task with its files: it is not deleted when its retention ends.
   * @param collection the name of a collection to put the task in; null: none
   */
  keep(id: string, collection: string | null = null, options: CallOptions = {}): Promise<Task> {
    return this.transport.json('PUT', `${pathOf(id)}/keep`, { ...options, body: { collection }, isRepeatable: true });
  }

  /** Stops keeping a task. Its retention then counts again. */
  unkeep(id: string, options: CallOptions = {}): Promise<Task> {
    return this.transport.json('DELETE', `${pathOf(id)}/keep`, { ...options, isRepeatable: true });
  }

  /** When the task is expected to start and end, and what it waits for. */
  estimate(id: string, options: CallOptions = {}): Promise<TaskEstimate> {
    return this.transport.json('GET', `${pathOf(id)}/estimate`, options);
  }

  /** The events of the task. */
  async timeline(id: string, options: CallOptions = {}): Promise<TaskTimeline['data']> {
    return (await this.transport.json<TaskTimeline>('GET', `${pathOf(id)}/timeline`, options)).data;
  }
}

const pathOf = (id: string): string => `/v1/tasks/${encodeURIComponent(id)}`;
