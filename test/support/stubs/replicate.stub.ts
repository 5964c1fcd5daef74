import { film, paint } from './media.ts';
import { type Reply, StubHttp, type StubRequest } from './stub-http.ts';

/** How a prediction ends. */
export type ReplicateEnding = 'succeeded' | 'no output' | 'canceled' | 'aborted' | 'never' | { error: string };

interface StubPrediction {
  id: string;
  model: string;
  input: Record<string, unknown>;
  createdAt: Date;
  polls: number;
  ending: ReplicateEnding;
  canceled: boolean;
}

const INPUTS: Record<string, string[]> = {
  'openai/gpt-image-2': ['prompt', 'aspect_ratio', 'quality', 'number_of_images', 'output_format', 'input_images'],
  'google/nano-banana-2': ['prompt', 'aspect_ratio', 'resolution', 'output_format', 'image_input'],
  'google/nano-banana-pro': [
    'prompt',
    'aspect_ratio',
    'resolution',
    'output_format',
    'image_input',
    'allow_fallback_model',
  ],
  'bytedance/seedance-2.0': [
    'prompt',
    'resolution',
    'aspect_ratio',
    'duration',
    'seed',
    'generate_audio',
    'image',
    'last_frame_image',
    'reference_images',
  ],
};
const GPT_RATIOS = `1:1 3:2 2:3 4:3 3:4 16:9 9:16 auto 1024x1024 1536x1024 1024x1536 1536x1152 1152x1536
  2048x2048 2048x1152 1152x2048 3840x2160 2160x3840`.split(/\s+/);
const HOUR_MS = 3_600_000;

/** Replicate on loopback. A prediction goes from starting to processing to its end, one step with each poll. */
export class ReplicateStub extends StubHttp {
  readonly predictions = new Map<string, StubPrediction>();
  /** The uploads by their URLs. */
  readonly uploads = new Map<string, { type: string; bytes: Buffer }>();
  /** Endings of the next predictions, in order; later ones succeed. */
  readonly endings: ReplicateEnding[] = [];
  steps = { starting: 1, processing: 1 };
  /** How far the stub's clock is ahead, in milliseconds. */
  aheadMs = 0;
  /** Whether a model with one output returns a list with one URL. Otherwise it returns the URL. */
  outputAsList = false;
  pageSize = 100;
  /** Whether pictures and videos can be decoded; otherwise they are a few bytes. */
  real = false;

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  bytesOf(id: string, at: number): Buffer {
    return Buffer.from(`output ${at} of ${id}`);
  }

  protected override isSubmit({ method, path }: StubRequest): boolean {
    return method === 'POST' && /^\/v1\/models\/[^/]+\/[^/]+\/predictions$/.test(path);
  }

  protected async answer(request: StubRequest): Promise<Reply> {
    const { method, path } = request;
    if (path.startsWith('/delivery/')) return this.deliver(path);
    if (request.key !== 'right') return problem(401, 'Unauthenticated', 'You did not pass a valid token');
    if (this.isSubmit(request)) return this.create(path, request.fields);
    if (method === 'POST' && path === '/v1/files') return this.upload(request);
    if (method === 'GET' && path === '/v1/predictions') return this.list(Number(request.query.cursor ?? 0));
    const [, id = '', act] = /^\/v1\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const prediction = this.predictions.get(id);
    if (!prediction) return problem(404, 'Not found', 'Not found.');
    if (act) prediction.canceled ||= !this.isFinal(prediction);
    else prediction.polls += 1;
    return { status: 200, body: this.view(prediction) };
  }

  private create(path: string, fields: Record<string, unknown>): Reply {
    const model = path.split('/').slice(3, 5).join('/');
    const input = (fields.input ?? {}) as Record<string, unknown>;
    if (!INPUTS[model]) return problem(404, 'Not found', 'The model does not exist.');
    const wrong = this.faultIn(model, input);
    if (wrong) return problem(422, 'Input validation failed', `input.${wrong} is wrong`);
    const id = `pred${String(this.predictions.size + 1).padStart(22, '0')}`;
    const ending = this.endings.shift() ?? 'succeeded';
    const createdAt = new Date(Date.now() + this.aheadMs);
    const prediction: StubPrediction = { id, model, input, createdAt, polls: 0, ending, canceled: false };
    this.predictions.set(id, prediction);
    return { status: 201, body: this.view(prediction) };
  }

  private faultIn(model: string, input: Record<string, unknown>): string | null {
    const unknown = Object.keys(input).find((name) => !INPUTS[model]?.includes(name));
    if (unknown) return unknown;
    const {
      prompt,
      aspect_ratio: ratio,
      number_of_images: count = 1,
      duration,
      image,
      reference_images: references,
    } = input;
    if (typeof prompt !== 'string') return 'prompt';
    if (model.includes('gpt') && !GPT_RATIOS.includes(String(ratio))) return 'aspect_ratio';
    if (!(Number(count) >= 1 && Number(count) <= 10)) return 'number_of_images';
    if (duration !== undefined && !(Number.isInteger(duration) && Number(duration) <= 15)) return 'duration';
    if (image && references) return 'image';
    const addresses = [image ?? [], references ?? [], input.input_images ?? [], input.image_input ?? []].flat();
    const isHere = (url: unknown) => this.uploads.has(String(url)) || String(url).startsWith('data:image/');
    return addresses.every(isHere) ? null : 'image';
  }

  private upload({ files }: StubRequest): Reply {
    const file = files.find(({ field }) => field === 'content');
    if (!file) return problem(400, 'Bad request', 'content is missing');
    const get = `${this.baseUrl}/files/file${this.uploads.size + 1}`;
    this.uploads.set(get, { type: file.type, bytes: file.bytes });
    return { status: 201, body: { id: `file${this.uploads.size}`, urls: { get } } };
  }

  private list(from: number): Reply {
    const all = [...this.predictions.values()].toReversed();
    const to = from + this.pageSize;
    const next = to < all.length ? `https://elsewhere.invalid/v1/predictions?cursor=${to}` : null;
    const results = all.slice(from, to).map((prediction) => ({ ...this.view(prediction), output: null }));
    return { status: 200, body: { next, previous: null, results } };
  }

  private view(prediction: StubPrediction) {
    const { id, model, input, createdAt, ending, polls } = prediction;
    const status = this.statusOf(prediction);
    const removed = this.isRemoved(prediction);
    return {
      id,
      model,
      version: 'hidden',
      input: removed ? {} : input,
      logs: status === 'processing' && polls % 2 === 1 ? ' 40%|####      |\n 60%|######    |' : '',
      output: status === 'succeeded' && ending !== 'no output' && !removed ? this.output(prediction) : null,
      error: status === 'failed' && typeof ending === 'object' ? ending.error : null,
      status,
      created_at: createdAt.toISOString(),
      started_at: status === 'starting' ? null : createdAt.toISOString(),
      data_removed: removed,
      urls: { get: `https://elsewhere.invalid/v1/predictions/${id}` },
    };
  }

  private output({ id, model, input }: StubPrediction): string | string[] {
    const count = Number(input.number_of_images ?? 1);
    const urls = Array.from({ length: count }, (_, at) => `${this.origin}/delivery/${id}/${at}`);
    return model.includes('gpt') || this.outputAsList ? urls : (urls[0] ?? '');
  }

  private statusOf({ polls, ending, canceled }: StubPrediction): string {
    if (canceled) return 'canceled';
    const { starting, processing } = this.steps;
    if (polls <= starting) return 'starting';
    if (polls <= starting + processing || ending === 'never') return 'processing';
    if (typeof ending === 'object') return 'failed';
    return ending === 'no output' ? 'succeeded' : ending;
  }

  private isFinal(prediction: StubPrediction): boolean {
    return !['starting', 'processing'].includes(this.statusOf(prediction));
  }

  private isRemoved(prediction: StubPrediction): boolean {
    return this.isFinal(prediction) && Date.now() + this.aheadMs - prediction.createdAt.getTime() > HOUR_MS;
  }

  private async deliver(path: string): Promise<Reply> {
    const [, id = '', at = '0'] = /^\/delivery\/([^/]+)\/(\d+)$/.exec(path) ?? [];
    const prediction = this.predictions.get(id);
    if (!prediction || this.isRemoved(prediction)) return { status: 404, body: 'gone' };
    if (!this.real) return { status: 200, body: this.bytesOf(id, Number(at)) };
    const { duration } = prediction.input;
    return {
      status: 200,
      body: duration ? await film(1280, 720, Number(duration)) : await paint(1024, 1024, Number(at)),
    };
  }
}

function problem(status: number, title: string, detail: string): Reply {
  return { status, body: { title, detail, status } };
}
