import { film } from './media.ts';
import { type Reply, StubHttp, type StubRequest } from './stub-http.ts';

/** How a task ends. */
export type ArkEnding =
  | 'succeeded'
  | 'no film'
  | 'expired'
  | 'cancelled'
  | { code: string; message?: string }
  /** The task never ends. */
  | 'never';

interface ArkTask {
  id: string;
  model: string;
  fields: Record<string, unknown>;
  /** The creation time in seconds on the stub's clock. */
  createdAt: number;
  polls: number;
  ending: ArkEnding;
  cancelled: boolean;
}

const TASKS = '/api/v3/contents/generations/tasks';
const FIELDS = ['model', 'content', 'resolution', 'ratio', 'duration', 'seed', 'generate_audio', 'watermark'];
const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'];
const DAY_S = 24 * 3600;

/** Pixels of a 16:9 video. These tests do not look at the picture. */
const SIZES: Record<string, [number, number]> = {
  '480p': [864, 496],
  '720p': [1280, 720],
  '1080p': [1920, 1080],
  '4k': [3840, 2160],
};

/** Volcengine Ark on loopback. A task goes from queued to running to its end, one step with each poll. */
export class ArkStub extends StubHttp {
  readonly tasks = new Map<string, ArkTask>();
  /** Endings of the next tasks, in order; later tasks succeed. */
  readonly endings: ArkEnding[] = [];
  /** How many polls find a task queued, and then how many find it running. */
  steps = { queued: 1, running: 1 };
  /** How far the stub's clock is ahead, in seconds. */
  aheadS = 0;
  /** Whether the list contains the seeds of the tasks. */
  listsSeeds = true;
  /** Whether videos can be decoded; otherwise they are a few bytes. */
  real = false;
  private links = 0;
  private created = 0;

  get baseUrl(): string {
    return `${this.origin}/api/v3`;
  }

  bytesOf(id: string): Buffer {
    return Buffer.from(`film of ${id}`);
  }

  protected override isSubmit({ method, path }: StubRequest): boolean {
    return method === 'POST' && path === TASKS;
  }

  protected async answer(request: StubRequest): Promise<Reply> {
    const { method, path } = request;
    if (path.startsWith('/store/')) return this.fetch(request);
    if (request.key !== 'right') return refusal(401, 'AuthenticationError');
    if (this.isSubmit(request)) return this.create(request.fields);
    if (method === 'GET' && path === TASKS) return this.list(request.query);
    const task = this.tasks.get(path.slice(TASKS.length + 1));
    if (!task) return refusal(404, 'NotFound.Task');
    if (method === 'DELETE') return this.cancel(task);
    task.polls += 1;
    return { status: 200, body: this.view(task) };
  }

  private create(fields: Record<string, unknown>): Reply {
    const wrong = faultIn(fields);
    if (wrong) return refusal(400, wrong);
    this.created += 1; // not the number of tasks, because a new task must not get the id of a deleted one
    const id = `cgt-20261120-${String(this.created).padStart(5, '0')}`;
    const model = String(fields.model);
    const ending = this.endings.shift() ?? 'succeeded';
    this.tasks.set(id, { id, model, fields, createdAt: this.now(), polls: 0, ending, cancelled: false });
    return { status: 200, body: { id } };
  }

  private list(query: Record<string, string>): Reply {
    const page = Number(query.page_num ?? 1);
    const size = Number(query.page_size ?? 20);
    const all = [...this.tasks.values()].toReversed();
    const items = all.slice((page - 1) * size, page * size).map((task) => {
      const { seed, resolution: _r, ratio: _a, duration: _d, ...view } = this.view(task);
      return this.listsSeeds ? { ...view, seed } : view;
    });
    return { status: 200, body: { total: all.length, items } };
  }

  private cancel(task: ArkTask): Reply {
    const { status } = this.view(task);
    if (status === 'running') return refusal(403, 'OperationDenied.InvalidState');
    if (status === 'queued') task.cancelled = true;
    else this.tasks.delete(task.id);
    return { status: 200, body: {} };
  }

  private view({ id, model, fields, createdAt, polls, ending, cancelled }: ArkTask) {
    const { resolution, ratio, duration, seed } = fields;
    const status = cancelled ? 'cancelled' : this.statusOf(polls, ending);
    const link = `${this.origin}/store/${id}?n=${(this.links += 1)}&expires=${this.now() + DAY_S}&signature=s3cr3t`;
    return {
      id,
      model,
      status,
      error: status === 'failed' && typeof ending === 'object' ? { message: `it failed ${link}`, ...ending } : null,
      ...(status === 'succeeded' && ending !== 'no film'
        ? { content: { video_url: link }, usage: { completion_tokens: 108_900, total_tokens: 108_900 } }
        : {}),
      created_at: createdAt,
      updated_at: this.now(),
      seed,
      resolution,
      ratio,
      duration,
    };
  }

  /**
   * Encodes a film of 720p now. Encoding during a test would block this process, and a waiting call would then arrive
   * after later ones.
   */
  async prepare(seconds: number): Promise<void> {
    this.real = true;
    await film(...SIZES['720p']!, seconds);
  }

  private statusOf(polls: number, ending: ArkEnding): string {
    const { queued, running } = this.steps;
    if (polls <= queued) return 'queued';
    if (polls <= queued + running || ending === 'never') return 'running';
    if (typeof ending === 'object') return 'failed';
    return ending === 'no film' ? 'succeeded' : ending;
  }

  /** Serves a file. Its link is signed only for GET. */
  private async fetch({ method, path, query }: StubRequest): Promise<Reply> {
    const task = this.tasks.get(path.slice('/store/'.length));
    if (method !== 'GET' || !task || Number(query.expires) < this.now()) return { status: 403, body: '<Error/>' };
    const [width, height] = SIZES[String(task.fields.resolution)] ?? [864, 496];
    const body = this.real ? await film(width, height, Number(task.fields.duration)) : this.bytesOf(task.id);
    return { status: 200, headers: { 'content-type': 'video/mp4' }, body };
  }

  private now(): number {
    return Math.floor(Date.now() / 1000) + this.aheadS;
  }
}

/** @returns the error code; null if the request is valid */
function faultIn(fields: Record<string, unknown>): string | null {
  const { model, content, resolution, ratio, duration, seed } = fields;
  if (typeof model !== 'string') return 'MissingParameter';
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown) return `InvalidParameter.${unknown}`;
  if (!(String(resolution) in SIZES)) return 'InvalidParameter.resolution';
  if (/fast|mini/.test(model) && !/^(480|720)p$/.test(String(resolution))) return 'InvalidParameter.resolution';
  if (!RATIOS.includes(String(ratio))) return 'InvalidParameter.ratio';
  if (!Number.isInteger(duration) || Number(duration) < 4 || Number(duration) > 15) return 'InvalidParameter.duration';
  if (!Number.isInteger(seed) || Number(seed) < -1 || Number(seed) > 2 ** 32 - 1) return 'InvalidParameter.seed';
  return faultInContent(content);
}

function faultInContent(content: unknown): string | null {
  if (!Array.isArray(content)) return 'MissingParameter';
  const parts = content as { type: string; text?: string; role?: string; image_url?: { url: string } }[];
  const images = parts.filter(({ type }) => type === 'image_url');
  if (images.some(({ image_url: image }) => !/^data:image\/(jpeg|png|webp);base64,/.test(image?.url ?? '')))
    return 'InvalidImageURL.Format';
  const roles = new Set(images.map(({ role }) => role));
  if (roles.has('reference_image') && (roles.has('first_frame') || roles.has('last_frame')))
    return 'InvalidParameter.content';
  if (images.filter(({ role }) => role === 'first_frame').length > 1) return 'InvalidParameter.content';
  return parts.some(({ type, text }) => type === 'text' && text) ? null : 'MissingParameter';
}

function refusal(status: number, code: string): Reply {
  return {
    status,
    body: { error: { code, message: `refused: ${code}`, param: '', type: 'x', request_id: 'req-ark' } },
  };
}
