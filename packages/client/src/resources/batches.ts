import { follow } from '../follow.ts';
import { sleep } from '../http/retry.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import { readLines } from '../http/lines.ts';
import { type Pages, pages } from '../pages.ts';
import { create, type CreateOptions, waitForLast, type WaitOptions } from '../run.ts';
import type { Batch, BatchRequestInput, BatchStatus, CreateBatchInput, GenerationRequest } from '../types.gen.ts';

/** A generation of a batch. `custom_id` is a name of your own, by which you find the generation in the results. */
export type BatchItem = GenerationRequest | { custom_id?: string; body: GenerationRequest };

/** The requests of a batch: as JSON, or in an uploaded file of JSON lines. */
export type BatchRequests = readonly BatchItem[] | { input_file_id: string };

export type BatchOptions = CreateOptions & Omit<CreateBatchInput, 'requests' | 'input_file_id'>;

/** One line of the results. */
export interface BatchResult {
  id: string;
  custom_id: string | null;
  index: number;
  task_id: string | null;
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  error: { code: string; message: string } | null;
}

const READ_PAUSE_MS = 2_000;

const isFinal = ({ status }: Batch): boolean => status === 'completed' || status === 'cancelled';

/** A batch that can be waited for: `await run.wait()`, or `for await (const batch of run)`. */
export class BatchRun implements AsyncIterable<Batch> {
  constructor(
    private readonly transport: Transport,
    readonly id: string,
    /** The newest state that was read; null before the first read. */
    public batch: Batch | null = null,
  ) {}

  /** @throws WaitTimeoutError when the time runs out; the batch goes on */
  wait(options: WaitOptions<Batch> = {}): Promise<Batch> {
    return waitForLast(this.id, (signal) => this.states(signal), options);
  }

  readonly [Symbol.asyncIterator]: () => AsyncIterator<Batch> = () => this.states();

  async cancel(options: CallOptions = {}): Promise<Batch> {
    this.batch = await this.transport.json<Batch>('POST', `${this.path}/cancel`, { ...options, isRepeatable: true });
    return this.batch;
  }

  /** The results of the items that are final, in the order of the items. */
  async *results(status?: 'succeeded' | 'failed', options: CallOptions = {}): AsyncGenerator<BatchResult> {
    const response = await this.transport.open('GET', `${this.path}/results`, { ...options, query: { status } });
    for await (const line of readLines(response.body!)) yield JSON.parse(line) as BatchResult;
  }

  private get path(): string {
    return `/v1/batches/${encodeURIComponent(this.id)}`;
  }

  private async *states(signal?: AbortSignal): AsyncGenerator<Batch> {
    if (this.batch && isFinal(this.batch)) {
      yield this.batch;
      return;
    }
    const read = async (given: AbortSignal | undefined, waits: boolean) => {
      if (waits) await sleep(READ_PAUSE_MS, given);
      return this.transport.json<Batch>('GET', this.path, { signal: given });
    };
    const followed = { id: this.id, events: `${this.path}/events`, isFinal, read };
    for await (const batch of follow<Batch>(this.transport, followed, signal)) {
      this.batch = batch;
      yield batch;
    }
  }
}

/** Batches: many generations in one request. */
export class Batches {
  constructor(private readonly transport: Transport) {}

  /** Creates a batch. The service accepts all items or none; with `on_invalid: 'skip'` it accepts the valid ones. */
  async create(requests: BatchRequests, options: BatchOptions = {}): Promise<BatchRun> {
    const { signal, timeoutMs, idempotencyKey, ...input } = options;
    const source = 'input_file_id' in requests ? requests : { requests: requests.map(toItem) };
    const call = { signal, timeoutMs, idempotencyKey };
    const batch = await create<Batch>(this.transport, '/v1/batches', { ...input, ...source }, call as CreateOptions);
    return new BatchRun(this.transport, batch.id, batch);
  }

  /** A `BatchRun` for a batch that already exists, such as a batch that another process has created. */
  run(id: string): BatchRun {
    return new BatchRun(this.transport, id);
  }

  list(query: { status?: BatchStatus; limit?: number } = {}, options: CallOptions = {}): Pages<Batch> {
    return pages(this.transport, '/v1/batches', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Batch> {
    return this.transport.json('GET', `/v1/batches/${encodeURIComponent(id)}`, options);
  }
}

const toItem = (item: BatchItem): BatchRequestInput => ('model' in item ? { body: item } : item);
