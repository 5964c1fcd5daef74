import { paint } from './media.ts';
import { type Reply, StubHttp, type StubRequest } from './stub-http.ts';

/** The servers with OpenAI's interface for pictures, each with its own additions. */
export type PictureServer = 'openai' | 'litellm' | 'vllm-omni' | 'sglang' | 'localai' | 'xinference';

const GENERATE = 'POST /v1/images/generations';
const EDIT = 'POST /v1/images/edits';

/** The fields of LiteLLM's `gpt_transformation.py`, which are OpenAI's. */
const OF_OPENAI = new Set(
  'model prompt background moderation n output_compression output_format quality size user'.split(' '),
);

/** One of these servers on loopback, written from its source. The base URL ends in /v1. */
export class PicturesStub extends StubHttp {
  constructor(private readonly speaks: PictureServer) {
    super();
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  protected async answer(request: StubRequest): Promise<Reply> {
    const route = `${request.method} ${request.path}`;
    if (route !== GENERATE && route !== EDIT) return detail(404, 'Not Found');
    const fault = this.faultIn(request, route === EDIT);
    if (fault) return detail(fault.status, fault.text);
    return this.pictures(request);
  }

  /**
   * The error with which the server refuses a request. Where the server ignores something silently, the stub refuses it
   * too, so that a test fails.
   */
  private faultIn({ fields, files }: StubRequest, isEdit: boolean): { status: number; text: string } | null {
    const { n = 1, size, response_format: format } = fields;
    const refuse = (text: string, status = 400) => ({ status, text });
    if (!/^\d+x\d+$/.test(String(size))) return refuse(`size ${String(size)}`);
    switch (this.speaks) {
      case 'openai':
      case 'litellm': {
        const other = Object.keys(fields).find((field) => !OF_OPENAI.has(field));
        if (other) return refuse(`unknown parameter ${other}`);
        return files.every(({ field }) => ['image[]', 'mask'].includes(field)) ? null : refuse('file');
      }
      case 'vllm-omni':
        if (format === 'url') return refuse('Only b64_json is supported', 422);
        if (fields.model !== 'served') return refuse(`Model mismatch: ${String(fields.model)}`);
        return files.some(({ field }) => !['image', 'image[]', 'mask_image'].includes(field)) ? refuse('field') : null;
      case 'sglang':
        if (Number(n) > 10) return refuse('cut silently');
        if (isEdit && fields.output_format !== 'png') return refuse('writes JPEG');
        return format === 'b64_json' && files.every(({ field }) => field.startsWith('image')) ? null : refuse('fields');
      case 'localai': {
        const images = (fields.ref_images ?? []) as string[];
        if (isEdit || files.length > 0) return refuse('not used');
        return images.some((image) => image.startsWith('data:')) ? refuse('dropped with a log line') : null;
      }
      case 'xinference': {
        if (format !== 'b64_json') return refuse('a path on its disk');
        if (isEdit) return files.filter(({ field }) => field === 'image').length === 1 ? null : refuse('image');
        return typeof fields.kwargs === 'string' ? null : refuse('kwargs');
      }
    }
  }

  private async pictures({ fields }: StubRequest): Promise<Reply> {
    const { n = 1, size } = fields;
    const [width, height] = String(size).split('x').map(Number) as [number, number];
    const made = await Promise.all(Array.from({ length: Number(n) }, (_, at) => paint(width, height, at)));
    return { status: 200, body: { created: 1, data: made.map((png) => ({ b64_json: png.toString('base64') })) } };
  }
}

const detail = (status: number, text: string): Reply => ({ status, body: { detail: text } });
