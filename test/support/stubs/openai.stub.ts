import type { ImagesResponse } from 'openai/resources/images';
import type { Video, VideoDeleteResponse } from 'openai/resources/videos';
import { film, paint } from './media.ts';
import { StubHttp, type Reply, type StubRequest } from './stub-http.ts';

const IMAGE_FIELDS = new Set(
  (
    'model prompt n size quality background output_format output_compression ' +
    'moderation stream partial_images safety_identifier user'
  ).split(' '),
);
const MAX_REFERENCES = 16;

interface Job {
  video: Video;
  polls: number;
}

const USAGE = {
  input_tokens: 12,
  input_tokens_details: { image_tokens: 0, text_tokens: 12 },
  output_tokens: 4160,
  total_tokens: 4172,
};

/** OpenAI's Images and Videos APIs on loopback. The base URL ends in /v1. */
export class OpenaiStub extends StubHttp {
  /** Whether only Sora's sizes and seconds are accepted, as by OpenAI. Compatible servers accept any. */
  sora = true;
  /** How many polls a job takes to complete. */
  pollsToComplete = 3;
  /** Whether a job contains only id and status, as on some servers. */
  minimal = false;
  /** If set, jobs fail with this error. */
  jobError: { code: string; message: string } | null = null;
  /** Whether pictures are links to the stub, as on some servers. */
  links = false;
  /** If set, streamed pictures end with this error. */
  streamError: { type: string; code: string; message: string } | null = null;
  readonly jobs = new Map<string, Job>();

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  protected async answer(request: StubRequest): Promise<Reply> {
    const { method, path } = request;
    if (method === 'GET' && path.startsWith('/pictures/')) return { status: 200, body: await paint(64, 64, 7) };
    if (request.key !== 'right') return refuse(401, 'invalid_api_key', null);
    if (method === 'POST' && path === '/v1/images/generations') return this.generate(request);
    if (method === 'POST' && path === '/v1/images/edits') return this.edit(request);
    if (method === 'POST' && path === '/v1/videos') return this.createVideo(request);
    const [, id = '', content] = /^\/v1\/videos\/([^/]+)(\/content)?$/.exec(path) ?? [];
    const job = this.jobs.get(id);
    if (!job) return refuse(404, 'not_found', null);
    if (method === 'GET') return content ? this.content(request, job) : this.poll(job);
    if (method === 'DELETE') return this.remove(job);
    return refuse(405, 'method_not_allowed', null);
  }

  private async generate({ fields, headers }: StubRequest): Promise<Reply> {
    if (!headers['content-type']?.startsWith('application/json')) return refuse(415, 'unsupported_media_type', null);
    if (fields.n !== undefined && typeof fields.n !== 'number') return refuse(400, 'invalid_type', 'n');
    return this.pictures(fields);
  }

  private async edit({ fields, files, headers }: StubRequest): Promise<Reply> {
    if (!headers['content-type']?.startsWith('multipart/form-data')) return refuse(415, 'unsupported_media_type', null);
    const images = files.filter(({ field }) => field === 'image' || field === 'image[]');
    if (images.length === 0) return refuse(400, 'missing_required_parameter', 'image');
    if (images.length !== files.length || images.length > MAX_REFERENCES) return refuse(400, 'invalid_value', 'image');
    if (images.some(({ type }) => !/^image\/(png|jpeg|webp)$/.test(type)))
      return refuse(400, 'invalid_image_file', 'image');
    return this.pictures({ ...fields, ...(fields.n !== undefined && { n: Number(fields.n) }) });
  }

  private async pictures(fields: StubRequest['fields']): Promise<Reply> {
    const unknown = Object.keys(fields).find((field) => !IMAGE_FIELDS.has(field));
    if (unknown) return refuse(400, 'unknown_parameter', unknown);
    const { prompt, n = 1, size = 'auto' } = fields;
    if (typeof prompt !== 'string' || prompt === '') return refuse(400, 'missing_required_parameter', 'prompt');
    if (!Number.isInteger(n) || Number(n) < 1 || Number(n) > 10) return refuse(400, 'integer_out_of_range', 'n');
    const pixels = pixelsOf(String(size));
    if (!pixels) return refuse(400, 'invalid_value', 'size');
    const made = await Promise.all(Array.from({ length: Number(n) }, (_, i) => paint(pixels.width, pixels.height, i)));
    if (String(fields.stream) === 'true') return this.events(Number(fields.partial_images ?? 0), made[0]!);
    const body: ImagesResponse = {
      created: now(),
      background: 'opaque',
      data: made.map((png, i) =>
        this.links ? { url: `${this.origin}/pictures/${i}` } : { b64_json: png.toString('base64') },
      ),
      output_format: 'png',
      quality: 'high',
      size: `${pixels.width}x${pixels.height}`,
      usage: USAGE,
    };
    return { status: 200, body };
  }

  /** A stream as OpenAI sends it: `partials` early stages, and then the picture or the error. */
  private events(partials: number, picture: Buffer): Reply {
    const shared = {
      created_at: now(),
      size: '1024x1024',
      quality: 'high',
      background: 'opaque',
      output_format: 'png',
    };
    const b64_json = picture.toString('base64');
    const events: object[] = Array.from({ length: partials }, (_, partial_image_index) => ({
      type: 'image_generation.partial_image',
      ...shared,
      partial_image_index,
      b64_json: Buffer.from(`stage ${partial_image_index}`).toString('base64'),
    }));
    if (this.streamError) events.push({ type: 'error', error: this.streamError });
    else events.push({ type: 'image_generation.completed', ...shared, b64_json, usage: USAGE });
    const body = events.map(
      (event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`,
    );
    return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: body.join('') };
  }

  private createVideo({ fields, files }: StubRequest): Reply {
    const { model = 'sora-2', prompt, seconds = '4', size = '720x1280' } = fields as Record<string, string>;
    if (!prompt) return refuse(400, 'missing_required_parameter', 'prompt');
    if (typeof seconds !== 'string' || !/^\d+$/.test(seconds)) return refuse(400, 'invalid_type', 'seconds');
    if (this.sora && !['4', '8', '12'].includes(seconds)) return refuse(400, 'invalid_value', 'seconds');
    if (this.sora && !/^(720x1280|1280x720|1024x1792|1792x1024)$/.test(size))
      return refuse(400, 'invalid_value', 'size');
    if (files.some(({ field }) => field !== 'input_reference')) return refuse(400, 'unknown_parameter', files[0].field);
    const video: Video = {
      id: `video_${this.jobs.size + 1}${'0'.repeat(8)}`,
      object: 'video',
      model,
      status: 'queued',
      progress: 0,
      created_at: now(),
      completed_at: null,
      expires_at: null,
      prompt,
      size: size as Video['size'],
      seconds,
      remixed_from_video_id: null,
      error: null,
    };
    this.jobs.set(video.id, { video, polls: 0 });
    return { status: 200, body: this.shown(video) };
  }

  private poll(job: Job): Reply {
    job.polls += 1;
    const { video } = job;
    if (job.polls >= this.pollsToComplete) this.end(video);
    else if (job.polls > 1) {
      video.status = 'in_progress';
      video.progress = Math.floor((99 * job.polls) / this.pollsToComplete);
    }
    return { status: 200, body: this.shown(video) };
  }

  private end(video: Video): void {
    video.status = this.jobError ? 'failed' : 'completed';
    video.error = this.jobError;
    if (this.jobError) return;
    video.progress = 100;
    video.completed_at = now();
    video.expires_at = now() + 3600;
  }

  private async content({ query }: StubRequest, { video }: Job): Promise<Reply> {
    if (video.status !== 'completed') return refuse(404, 'not_found', null);
    const [width = 0, height = 0] = video.size.split('x').map(Number);
    if (query.variant && query.variant !== 'video') {
      return { status: 200, headers: { 'content-type': 'image/png' }, body: await paint(width, height, 1) };
    }
    const body = await film(width, height, Number(video.seconds));
    return { status: 200, headers: { 'content-type': 'video/mp4' }, body };
  }

  private remove({ video }: Job): Reply {
    const running = video.status === 'queued' || video.status === 'in_progress';
    if (this.sora && running) return refuse(400, 'video_not_deletable', null);
    this.jobs.delete(video.id);
    const body: VideoDeleteResponse = { id: video.id, object: 'video.deleted', deleted: true };
    return { status: 200, body };
  }

  private shown(video: Video): object {
    return this.minimal ? { id: video.id, status: video.status } : { ...video };
  }
}

const now = (): number => Math.floor(Date.now() / 1000);

function refuse(status: number, code: string, param: string | null): Reply {
  return { status, body: { error: { message: `refused: ${code}`, type: 'invalid_request_error', param, code } } };
}

/** @returns null for a size that gpt-image-2 does not allow */
function pixelsOf(size: string): { width: number; height: number } | null {
  if (size === 'auto') return { width: 1024, height: 1024 };
  const [, width = 0, height = 0] = (/^(\d+)x(\d+)$/.exec(size) ?? []).map(Number);
  const total = width * height;
  const ratio = width / height;
  const fits = width % 16 === 0 && height % 16 === 0 && Math.max(width, height) <= 3840;
  return fits && total >= 655_360 && total <= 8_294_400 && ratio >= 1 / 3 && ratio <= 3 ? { width, height } : null;
}
