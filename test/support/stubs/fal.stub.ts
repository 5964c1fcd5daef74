import type { IncomingMessage } from 'node:http';
import { film, paint } from './media.ts';
import { type Reply, StubHttp, type StubRequest } from './stub-http.ts';

/** How a request ends. With `onStatus` the answer about the status already contains the error. */
export type FalEnding =
  | 'completed'
  | 'nothing'
  /** One picture fewer than requested. */
  | 'fewer'
  /** The request never ends. */
  | 'never'
  | { status: number; type: string; platform?: boolean; retryable?: boolean }
  | { onStatus: string };

interface FalJob {
  id: string;
  app: string;
  endpoint: string;
  fields: Record<string, unknown>;
  polls: number;
  ending: FalEnding;
  cancelRequested: boolean;
}

const COMMON_IMAGE = ['prompt!', 'num_images', 'output_format'];
const COMMON_VIDEO = ['prompt!', 'resolution', 'aspect_ratio', 'duration', 'seed', 'generate_audio'];
/** The fields of each endpoint. Names of required fields end with `!`. */
const ENDPOINTS: Record<string, string[]> = {
  'openai/gpt-image-2': [...COMMON_IMAGE, 'image_size', 'quality'],
  'openai/gpt-image-2/edit': [...COMMON_IMAGE, 'image_size', 'quality', 'image_urls!'],
  'fal-ai/nano-banana-2': [...COMMON_IMAGE, 'aspect_ratio', 'resolution'],
  'fal-ai/nano-banana-2/edit': [...COMMON_IMAGE, 'aspect_ratio', 'resolution', 'image_urls!'],
  'fal-ai/nano-banana-pro': [...COMMON_IMAGE, 'aspect_ratio', 'resolution'],
  'fal-ai/nano-banana-pro/edit': [...COMMON_IMAGE, 'aspect_ratio', 'resolution', 'image_urls!'],
  'bytedance/seedance-2.0/text-to-video': COMMON_VIDEO,
  'bytedance/seedance-2.0/image-to-video': [...COMMON_VIDEO, 'image_url!'],
  'bytedance/seedance-2.0/reference-to-video': [...COMMON_VIDEO, 'image_urls!'],
};

/** fal's queue on loopback. A request is queued, runs and completes, one step with each poll. */
export class FalStub extends StubHttp {
  readonly jobs = new Map<string, FalJob>();
  /** Endings of the next requests, in order; later ones complete. */
  readonly endings: FalEnding[] = [];
  steps = { queued: 2, running: 1 };
  /** Whether pictures and videos can be decoded; otherwise they are a few bytes. */
  real = false;

  bytesOf(id: string, at: number): Buffer {
    return Buffer.from(`output ${at} of ${id}`);
  }

  protected override keyOf(headers: IncomingMessage['headers']): string | undefined {
    return headers.authorization?.replace(/^Key /, '');
  }

  protected async answer(request: StubRequest): Promise<Reply> {
    const { method, path } = request;
    if (path.startsWith('/files/')) return this.file(path);
    if (request.key !== 'right') return platform(401, 'auth_error', 'Cannot access application');
    if (method === 'POST') return this.submit(path.slice(1), request.fields);
    const [, app = '', id = '', rest = ''] = /^\/([^/]+\/[^/]+)\/requests\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    const job = this.jobs.get(id);
    if (!job || job.app !== app) return { status: 404, body: { status: 'NOT_FOUND' } };
    if (method === 'PUT' && rest === '/cancel') return this.cancel(job);
    if (method === 'GET' && rest === '/status') return this.status(job);
    return this.result(job);
  }

  private submit(endpoint: string, fields: Record<string, unknown>): Reply {
    const known = ENDPOINTS[endpoint];
    if (!known) return platform(404, 'not_found', 'Application not found');
    const wrong = faultIn(known, fields);
    if (wrong) return { status: 422, body: { detail: [{ loc: ['body', wrong], msg: 'wrong', type: 'value_error' }] } };
    const id = `${String(this.jobs.size + 1).padStart(8, '0')}-1111-4222-8333-444444444444`;
    const app = endpoint.split('/').slice(0, 2).join('/');
    const ending = this.endings.shift() ?? 'completed';
    this.jobs.set(id, { id, app, endpoint, fields, polls: 0, ending, cancelRequested: false });
    const base = `https://queue.invalid/${app}/requests/${id}`;
    const urls = { response_url: base, status_url: `${base}/status`, cancel_url: `${base}/cancel` };
    return { status: 200, body: { status: 'IN_QUEUE', request_id: id, queue_position: this.steps.queued, ...urls } };
  }

  private status(job: FalJob): Reply {
    job.polls += 1;
    const { queued, running } = this.steps;
    const { polls, ending } = job;
    if (polls <= queued) return { status: 202, body: { status: 'IN_QUEUE', queue_position: queued - polls } };
    if (polls <= queued + running || ending === 'never')
      return { status: 202, body: { status: 'IN_PROGRESS', logs: [] } };
    const error = typeof ending === 'object' && 'onStatus' in ending ? { error: 'x', error_type: ending.onStatus } : {};
    return { status: 200, body: { status: 'COMPLETED', logs: [], metrics: { inference_time: 1 }, ...error } };
  }

  private result({ id, endpoint, fields, ending }: FalJob): Reply {
    if (typeof ending === 'object' && 'type' in ending) return failure(ending);
    const file = (at: number) => ({ url: `${this.origin}/files/${id}/${at}`, content_type: 'x', file_size: 1 });
    if (ending === 'nothing') return { status: 200, body: { images: [] } };
    if (endpoint.includes('seedance')) return { status: 200, body: { video: file(0), seed: fields.seed } };
    const count = Number(fields.num_images ?? 1) - (ending === 'fewer' ? 1 : 0);
    return { status: 200, body: { images: Array.from({ length: count }, (_, at) => file(at)), description: '' } };
  }

  private cancel(job: FalJob): Reply {
    const { queued, running } = this.steps;
    if (job.polls > queued + running && job.ending !== 'never')
      return { status: 400, body: { status: 'ALREADY_COMPLETED' } };
    job.cancelRequested = true;
    return { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
  }

  private async file(path: string): Promise<Reply> {
    const [, id = '', at = '0'] = /^\/files\/([^/]+)\/(\d+)$/.exec(path) ?? [];
    const job = this.jobs.get(id);
    if (!job) return { status: 404, body: 'gone' };
    if (!this.real) return { status: 200, body: this.bytesOf(id, Number(at)) };
    const { image_size: size, duration } = job.fields as {
      image_size?: { width: number; height: number };
      duration?: string;
    };
    const body = duration
      ? await film(1280, 720, Number(duration))
      : await paint(size?.width ?? 1024, size?.height ?? 1024, Number(at));
    return { status: 200, body };
  }
}

/** @returns the invalid field, or null */
function faultIn(known: readonly string[], fields: Record<string, unknown>): string | null {
  const names = known.map((name) => name.replace('!', ''));
  const missing = known.find((name) => name.endsWith('!') && fields[name.slice(0, -1)] === undefined);
  if (missing) return missing;
  const unknown = Object.keys(fields).find((name) => !names.includes(name));
  if (unknown) return unknown;
  const { num_images: count, duration, image_urls: urls, image_url: url, image_size: size } = fields;
  if (count !== undefined && !(Number(count) >= 1 && Number(count) <= 4)) return 'num_images';
  if (duration !== undefined && !/^([4-9]|1[0-5])$/.test(String(duration))) return 'duration';
  if (typeof duration === 'number') return 'duration';
  if ([urls ?? [], url ?? []].flat().some((one) => !String(one).startsWith('data:image/'))) return 'image_urls';
  return isSize(size) ? null : 'image_size';
}

function isSize(size: unknown): boolean {
  if (size === undefined || size === 'auto') return true;
  const { width, height } = size as { width: number; height: number };
  const pixels = width * height;
  return (
    width % 16 === 0 && height % 16 === 0 && Math.max(width, height) <= 3840 && pixels >= 655_360 && pixels <= 8_294_400
  );
}

function failure({
  status,
  type,
  platform: isPlatform,
  retryable,
}: {
  status: number;
  type: string;
  platform?: boolean;
  retryable?: boolean;
}): Reply {
  const headers: Record<string, string> = retryable === undefined ? {} : { 'x-fal-retryable': String(retryable) };
  if (isPlatform)
    return { ...platform(status, type, 'the platform failed'), headers: { ...headers, 'x-fal-error-type': type } };
  return { status, headers, body: { detail: [{ loc: ['body'], msg: 'the model failed', type, input: 'a prompt' }] } };
}

function platform(status: number, type: string, detail: string): Reply {
  return { status, headers: { 'x-fal-error-type': type }, body: { detail, error_type: type } };
}
