import { eventually } from '../wait.ts';
import type { Answer, Api, TaskBody } from './api.ts';

/** A batch as a client reads it. */
export interface BatchBody {
  id: string;
  object: string;
  endpoint: string;
  status: string;
  progress: number;
  created_at: number;
  in_progress_at: number | null;
  completed_at: number | null;
  cancelling_at: number | null;
  cancelled_at: number | null;
  expires_at: number;
  input_file_id: string | null;
  output_file_id: string | null;
  error_file_id: string | null;
  completion_window: string;
  request_counts: { total: number; completed: number; failed: number };
  counts: { queued: number; running: number; succeeded: number; failed: number; cancelled: number; invalid: number };
  usage?: Record<string, number | string>;
  errors?: { object: string; data: BatchFaultBody[] };
  metadata: Record<string, string>;
}

export interface BatchFaultBody {
  index: number;
  line: number | null;
  custom_id: string | null;
  code: string;
  param: string | null;
  message: string;
}

export interface ResultLineBody {
  id: string;
  custom_id: string | null;
  index: number;
  task_id: string | null;
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  error: { code: string; message: string; param?: string } | null;
}

export interface BatchErrorBody {
  error: { code: string; message: string; param: string | null; type: string; errors?: BatchFaultBody[] };
}

/** A client of /v1/batches. */
export class BatchClient {
  constructor(readonly api: Api) {}

  create<Body = BatchBody>(body: unknown, headers: object = {}): Promise<Answer<Body>> {
    return this.api.call<Body>('POST', '/v1/batches', body, headers);
  }

  /** A batch of native creations. */
  async of(bodies: object[], more: object = {}): Promise<BatchBody> {
    const { status, body, text } = await this.create({ requests: bodies.map((each) => ({ body: each })), ...more });
    if (status !== 201) throw new Error(`No batch: ${status} ${text}`);
    return body;
  }

  async read(id: string): Promise<BatchBody> {
    return (await this.api.get<BatchBody>(`/v1/batches/${id}`)).body;
  }

  untilEnded(id: string): Promise<BatchBody> {
    return this.until(id, 'the batch to end', ({ status }) => status === 'completed' || status === 'cancelled');
  }

  until(id: string, what: string, met: (batch: BatchBody) => boolean): Promise<BatchBody> {
    return eventually(what, async () => {
      const batch = await this.read(id);
      return met(batch) && batch;
    });
  }

  cancel<Body = BatchBody>(id: string): Promise<Answer<Body>> {
    return this.api.call<Body>('POST', `/v1/batches/${id}/cancel`);
  }

  async results(id: string, query = ''): Promise<ResultLineBody[]> {
    return linesOf((await this.api.get(`/v1/batches/${id}/results${query}`)).text);
  }

  /** The tasks of a batch, in the order of the items. */
  async tasks(id: string): Promise<TaskBody[]> {
    const { body } = await this.api.get<{ data: TaskBody[] }>(`/v1/tasks?batch_id=${id}&limit=100`);
    return body.data.toReversed();
  }
}

export const linesOf = (text: string): ResultLineBody[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ResultLineBody);
