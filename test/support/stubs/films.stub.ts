import type { IncomingMessage } from 'node:http';
import { film } from './media.ts';
import { type Reply, StubHttp, type StubRequest } from './stub-http.ts';

/** SGLang's films on loopback, written from its `video_api.py`. The base URL ends in /v1. */
export class SglangStub extends StubHttp {
  /** If set, jobs fail with this text. */
  jobError: string | null = null;
  private readonly jobs = new Map<string, { size: string; seconds: number; polls: number }>();

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  protected keyOf({ authorization }: IncomingMessage['headers']): string | undefined {
    return authorization?.replace(/^Bearer /, '');
  }

  protected isSubmit({ method }: StubRequest): boolean {
    return method === 'POST';
  }

  protected async answer({ method, path, headers, fields, files }: StubRequest): Promise<Reply> {
    if (method === 'POST' && path === '/v1/videos') {
      const isForm = headers['content-type']?.startsWith('multipart/form-data') ?? false;
      if (isForm && files.length === 0) return detail(400, 'input_reference is required');
      if (!isForm && !Number.isInteger(fields.seconds)) return detail(422, 'seconds must be an integer');
      const id = `video_${this.jobs.size + 1}`;
      this.jobs.set(id, { size: String(fields.size), seconds: Number(fields.seconds), polls: 0 });
      return { status: 200, body: { id, object: 'video', status: 'queued', progress: 0 } };
    }
    const [, id = '', content] = /^\/v1\/videos\/([^/]+)(\/content)?$/.exec(path) ?? [];
    const job = this.jobs.get(id);
    if (!job) return detail(404, 'Video not found');
    if (method === 'DELETE') return { status: 200, body: { id, deleted: true, object: 'video.deleted' } };
    const isDone = job.polls >= 2;
    if (content) {
      const [width = 0, height = 0] = job.size.split('x').map(Number);
      if (!isDone) return detail(404, 'Generation is still in-progress');
      return { status: 200, headers: { 'content-type': 'video/mp4' }, body: await film(width, height, job.seconds) };
    }
    job.polls += 1;
    if (job.polls < 2) return { status: 200, body: { id, object: 'video', status: 'queued', progress: 0 } };
    if (this.jobError === null)
      return { status: 200, body: { id, object: 'video', status: 'completed', progress: 100 } };
    const error = { message: this.jobError };
    return { status: 200, body: { id, object: 'video', status: 'failed', progress: 0, error } };
  }
}

const detail = (status: number, text: string): Reply => ({ status, body: { detail: text } });
