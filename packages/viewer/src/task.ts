/** These types contain only the fields that the page reads. The tools return the task in `structuredContent`. */
export interface Output {
  id: string;
  type: 'image' | 'video';
  url: string | null;
  content_type: string;
  size_bytes: number;
  width: number;
  height: number;
}

export interface Task {
  task_id: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed';
  progress: number;
  model: string;
  parent_task_id: string | null;
  created_at: number;
  input: { prompt?: string };
  result?: { outputs: Output[] };
  error?: { message: string };
}

/** @returns null if the content is no task, as in the answer to a refused call */
export const taskIn = (content: Record<string, unknown> | undefined): Task | null =>
  typeof content?.task_id === 'string' ? (content as unknown as Task) : null;

export const isFinal = ({ status }: Task): boolean => status === 'succeeded' || status === 'failed';
