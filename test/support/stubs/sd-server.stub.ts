import type { IncomingMessage } from 'node:http';
import { paint } from './media.ts';
import { type Reply, StubHttp, type StubRequest } from './stub-http.ts';

const MAX_PICTURES = 8;

/**
 * The jobs of stable-diffusion.cpp's server on loopback, written from `examples/server/routes_sdcpp`. The server has no
 * key.
 */
export class SdServerStub extends StubHttp {
  /** Whether the queue of jobs is full. */
  isFull = false;
  /** How many polls a job takes to complete. The first finds it queued, the others find it generating. */
  pollsToComplete = 3;
  jobError: { code: string; message: string } | null = null;
  private readonly jobs = new Map<string, { fields: StubRequest['fields']; polls: number; isCancelled: boolean }>();

  /** The base URL that operators configure: that of the OpenAI routes. */
  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  protected override keyOf(_headers: IncomingMessage['headers']): string {
    return this.key;
  }

  protected override isSubmit({ method, path }: StubRequest): boolean {
    return method === 'POST' && path === '/sdcpp/v1/img_gen';
  }

  protected async answer(request: StubRequest): Promise<Reply> {
    const { method, path, fields } = request;
    if (this.isSubmit(request)) return this.create(fields);
    const [, id = '', cancel] = /^\/sdcpp\/v1\/jobs\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const job = this.jobs.get(id);
    if (!job) return refuse(404, 'job not found');
    if (method === 'POST' && cancel) {
      if (job.polls > 1) return refuse(409, 'job is generating');
      job.isCancelled = true;
      return { status: 200, body: { id, status: 'cancelled' } };
    }
    job.polls += 1;
    return { status: 200, body: { id, kind: 'img_gen', ...(await this.stateOf(job)) } };
  }

  private create(fields: StubRequest['fields']): Reply {
    if (this.isFull) return refuse(429, 'job queue is full');
    const { prompt, batch_count: count, width, height } = fields;
    if (typeof prompt !== 'string' || Number(count) > MAX_PICTURES) return refuse(400, 'invalid request');
    if ([width, height].some((side) => Number(side) < 64 || Number(side) > 4096)) return refuse(400, 'invalid size');
    const id = `job_${this.jobs.size + 1}`;
    this.jobs.set(id, { fields, polls: 0, isCancelled: false });
    return {
      status: 202,
      body: { id, kind: 'img_gen', status: 'queued', created: 1, poll_url: `/sdcpp/v1/jobs/${id}` },
    };
  }

  private async stateOf(job: { fields: StubRequest['fields']; polls: number; isCancelled: boolean }): Promise<object> {
    if (job.isCancelled) return { status: 'cancelled' };
    if (job.polls < this.pollsToComplete)
      return { status: job.polls === 1 ? 'queued' : 'generating', queue_position: 0 };
    if (this.jobError) return { status: 'failed', error: this.jobError };
    const { batch_count: count, width, height } = job.fields;
    const made = Array.from({ length: Number(count) }, (_, at) => paint(Number(width), Number(height), at));
    const images = (await Promise.all(made)).map((png, index) => ({ index, b64_json: png.toString('base64') }));
    return { status: 'completed', result: { images } };
  }
}

const refuse = (status: number, error: string): Reply => ({ status, body: { error } });
