import type { IncomingMessage } from 'node:http';
import type { Fault } from './stub-http.ts';
import { blank } from './media.ts';
import { StubHttp, type Reply, type StubRequest } from './stub-http.ts';

type Rows = Record<string, [number, number]>;

/** Pixels in 2K. In 4K the sides are twice as long, in 1K half as long. */
const PIXELS_2K: Rows = {
  '1:1': [2048, 2048],
  '2:3': [1696, 2528],
  '3:2': [2528, 1696],
  '3:4': [1792, 2400],
  '4:3': [2400, 1792],
  '4:5': [1856, 2304],
  '5:4': [2304, 1856],
  '9:16': [1536, 2752],
  '16:9': [2752, 1536],
  '21:9': [3168, 1344],
};
const SCALES: Record<string, number> = { '1K': 0.5, '2K': 1, '4K': 2 };

/** Gemini's generateContent for image models on loopback, under v1 and v1beta. */
export class GeminiStub extends StubHttp {
  /** Whether the picture comes after a draft, which is in a part marked as thought. */
  drafts = false;

  get baseUrl(): string {
    return this.origin;
  }

  protected override keyOf(headers: IncomingMessage['headers']): string | undefined {
    return headers['x-goog-api-key'] as string | undefined;
  }

  protected answer(request: StubRequest): Reply {
    const [, model] = /^\/v1(?:beta)?\/models\/([^/:]+):generateContent$/.exec(request.path) ?? [];
    if (!model || request.method !== 'POST') return refuse(404, 'NOT_FOUND', 'not found');
    if (request.key !== 'right') return refuse(400, 'INVALID_ARGUMENT', 'API key not valid.', [apiKeyInvalid]);
    const { contents, generationConfig } = request.fields as unknown as Body;
    const fault = faultOf(contents, generationConfig);
    if (fault) return refuse(400, 'INVALID_ARGUMENT', fault);
    const { aspectRatio = '1:1', imageSize = '1K' } = generationConfig.imageConfig ?? {};
    const [width, height] = PIXELS_2K[aspectRatio].map((side) => side * SCALES[imageSize]);
    const inline = (shade: number) => ({
      inlineData: { mimeType: 'image/png', data: blank(width, height, shade).toString('base64') },
    });
    const draft = this.drafts ? [{ thought: true, ...inline(99) }] : [];
    const picture = inline(this.submits);
    return answered(
      { content: { role: 'model', parts: [...draft, { text: 'Here it is.' }, picture] }, finishReason: 'STOP' },
      model,
    );
  }
}

interface Body {
  contents?: { role?: string; parts?: { text?: string; inlineData?: { mimeType: string; data: string } }[] }[];
  generationConfig: { responseModalities?: string[]; imageConfig?: { aspectRatio?: string; imageSize?: string } };
}

/** @returns why the real API refuses the request; undefined if it accepts it */
function faultOf(contents: Body['contents'], config: Body['generationConfig'] | undefined): string | undefined {
  const parts = contents?.[0]?.parts ?? [];
  if (!parts.some(({ text }) => text)) return 'contents is not specified';
  const images = parts.flatMap(({ inlineData }) => (inlineData ? [inlineData] : []));
  if (images.length > 14) return 'too many images';
  if (images.some(({ data }) => Buffer.from(data, 'base64').length === 0)) return 'Unable to process input image';
  if (!config?.responseModalities?.includes('IMAGE')) return 'responseModalities must hold IMAGE';
  const { aspectRatio = '1:1', imageSize = '1K' } = config.imageConfig ?? {};
  if (!(aspectRatio in PIXELS_2K)) return `aspect_ratio ${aspectRatio}`;
  if (!(imageSize in SCALES)) return `image_size ${imageSize}`;
  return undefined;
}

function answered(candidate: object, model = 'stub'): Reply {
  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 1290, totalTokenCount: 1299 };
  return {
    status: 200,
    body: { candidates: [candidate], usageMetadata, modelVersion: model, responseId: 'resp_stub' },
  };
}

function refuse(code: number, status: string, message: string, details: object[] = []): Reply {
  return { status: code, body: { error: { code, message, status, details } } };
}

const TYPE = 'type.googleapis.com/google.rpc.';
const apiKeyInvalid = { '@type': `${TYPE}ErrorInfo`, reason: 'API_KEY_INVALID', domain: 'googleapis.com' };
const quota = (quotaId: string) => ({ '@type': `${TYPE}QuotaFailure`, violations: [{ quotaId }] });
const retryIn = (retryDelay: string) => ({ '@type': `${TYPE}RetryInfo`, retryDelay });

/** A successful response without a picture, with this finish reason. */
export const finishedBy = (finishReason: string): Fault => ({
  reply: answered({ content: { parts: [] }, finishReason }),
});

/** The response to a prompt that was blocked before there was a candidate. */
export const blockedBy = (blockReason: string): Fault => ({
  reply: { status: 200, body: { promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 9 } } },
});

export const GEMINI_FAULTS = {
  badInput: { reply: refuse(400, 'INVALID_ARGUMENT', 'Unable to process input image.') },
  badKey: { reply: refuse(400, 'INVALID_ARGUMENT', 'API key not valid: stub-key-5f2c9e', [apiKeyInvalid]) },
  noBilling: { reply: refuse(400, 'FAILED_PRECONDITION', 'Enable billing on your project.') },
  wrongRegion: { reply: refuse(400, 'FAILED_PRECONDITION', 'User location is not supported.') },
  denied: { reply: refuse(403, 'PERMISSION_DENIED', 'denied') },
  noModel: { reply: refuse(404, 'NOT_FOUND', 'models/x is not found') },
  perMinute: {
    reply: refuse(429, 'RESOURCE_EXHAUSTED', 'quota', [quota('GenerateRequestsPerMinutePerProject'), retryIn('1.17s')]),
  },
  perMinuteSoon: { reply: refuse(429, 'RESOURCE_EXHAUSTED', 'quota', [quota('RequestsPerMinute'), retryIn('0.05s')]) },
  perDay: { reply: refuse(429, 'RESOURCE_EXHAUSTED', 'quota', [quota('GenerateRequestsPerDayPerProject')]) },
  overloaded: { reply: refuse(503, 'UNAVAILABLE', 'overloaded') },
  overloadedHint: { reply: { ...refuse(503, 'UNAVAILABLE', 'overloaded'), headers: { 'retry-after': '2' } } },
  deadline: { reply: refuse(504, 'DEADLINE_EXCEEDED', 'deadline') },
  internal: { reply: refuse(500, 'INTERNAL', 'internal') },
  /** Google's front end puts errors into an array. */
  wrapped: {
    reply: {
      status: 429,
      body: [{ error: { code: 429, message: 'q', status: 'RESOURCE_EXHAUSTED', details: [quota('PerDay')] } }],
    },
  },
  html: { reply: { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>502</html>' } },
  junk: { reply: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"candidates":[' } },
  empty: { reply: { status: 200, body: {} } },
} satisfies Record<string, { reply: Reply }>;
