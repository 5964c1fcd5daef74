import { film } from './media.ts';
import { type Reply, StubHttp, type StubRequest } from './stub-http.ts';

/** The fields of vLLM-Omni's form, of its `protocol/videos.py`. */
const OF_OMNI = new Set(
  'prompt model seconds size fps num_frames seed negative_prompt num_inference_steps generate_sound'.split(' '),
);

/**
 * Films of other servers on loopback, written from SGLang's `video_api.py` and vLLM-Omni's `api_server.py`. The base URL
 * ends in /v1.
 */
export class FilmsStub extends StubHttp {
  /** If set, jobs fail with this text. */
  jobError: string | null = null;
  /** Whether jobs stay queued. */
  isWaiting = false;
  private readonly jobs = new Map<string, { size: string; seconds: number; polls: number }>();

  constructor(private readonly speaks: 'sglang' | 'vllm-omni') {
    super();
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  protected async answer(request: StubRequest): Promise<Reply> {
    const { method, path, fields } = request;
    if (method === 'POST' && path === '/v1/videos') {
      const fault = this.faultIn(request);
      if (fault) return fault;
      const id = `video_${this.jobs.size + 1}`;
      this.jobs.set(id, { size: String(fields.size), seconds: Number(fields.seconds), polls: 0 });
      return { status: 200, body: { id, object: 'video', status: 'queued', progress: 0 } };
    }
    const [, id = '', content] = /^\/v1\/videos\/([^/]+)(\/content)?$/.exec(path) ?? [];
    const job = this.jobs.get(id);
    if (!job) return detail(404, 'Video not found');
    if (method === 'DELETE' && this.speaks === 'vllm-omni' && !this.jobs.delete(id)) return detail(404, 'no video');
    if (method === 'DELETE') return { status: 200, body: { id, deleted: true, object: 'video.deleted' } };
    const isDone = job.polls >= 2;
    if (content) {
      const [width = 0, height = 0] = job.size.split('x').map(Number);
      if (!isDone) return detail(404, 'Generation is still in-progress');
      return { status: 200, headers: { 'content-type': 'video/mp4' }, body: await film(width, height, job.seconds) };
    }
    job.polls += 1;
    if (job.polls < 2 || this.isWaiting)
      return { status: 200, body: { id, object: 'video', status: 'queued', progress: 0 } };
    if (this.jobError === null)
      return { status: 200, body: { id, object: 'video', status: 'completed', progress: 100 } };
    const error = { message: this.jobError };
    // vLLM-Omni answers with the status of the error.
    const status = this.speaks === 'vllm-omni' ? 500 : 200;
    return { status, body: { id, object: 'video', status: 'failed', progress: 0, error } };
  }

  private faultIn({ headers, fields, files }: StubRequest): Reply | null {
    const isForm = headers['content-type']?.startsWith('multipart/form-data') ?? false;
    if (this.speaks === 'sglang') {
      if (isForm && files.length === 0) return detail(400, 'input_reference is required');
      if (!isForm && !Number.isInteger(fields.seconds)) return detail(422, 'seconds must be an integer');
      return null;
    }
    const other = Object.keys(fields).find((field) => !OF_OMNI.has(field));
    if (!isForm || other) return detail(422, other ?? 'not a form');
    if (files.some(({ field }) => field !== 'input_reference')) return detail(422, 'file');
    return /^[1-9]\d*$/.test(String(fields.seconds)) ? null : detail(422, 'seconds');
  }
}

const detail = (status: number, text: string): Reply => ({ status, body: { detail: text } });
