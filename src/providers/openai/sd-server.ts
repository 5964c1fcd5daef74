import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { requestedSize } from '../contract/prepare-request.ts';
import { type Part, partOf, partsOf } from '../contract/parts.ts';
import { type InputImage, ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { seedAt, seedOf } from '../contract/seed.ts';
import { extraFields } from '../contract/slot-values.ts';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import { acceptedJob } from '../jobs/accepted-job.ts';
import { DONE, jobAdapter, type JobState, PENDING } from '../jobs/job-adapter.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { field, parseReply, text } from '../wire/reply-schema.ts';
import { submitRefused } from '../wire/submit-failure.ts';
import { MAX_BYTES_WITH_RESULT, type UpstreamCall, upstreamFetch, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { OF_SD_SERVER } from './dialects.ts';

/** The most pictures of one job. */
const MOST = 8;
const POLL_MS = { image: 2_000, video: 2_000 };
const TYPICAL_MS = { image: 60_000, video: 60_000 };

interface SdPlan {
  count: number;
  parts: Part[];
  seeds: number[];
  approximations: Approximation[];
}

const sdSubmitted = z.object({ id: text(), error: text() });
const sdJob = z.object({
  status: text(),
  result: field(z.object({ images: field(z.array(z.object({ b64_json: text() }))) })),
  error: field(z.object({ code: text(), message: text() })),
});

/**
 * The job API of stable-diffusion.cpp's own server (`examples/server/routes_sdcpp`). The OpenAI routes of that server
 * are not used, because they read commands from a prompt and have neither a seed nor a cancel.
 */
export const sdServer = jobAdapter<SdPlan, object[]>({
  name: 'openai',
  takes: ['prompt', 'aspect_ratio', 'resolution', 'size', 'n', 'reference_images', ...OF_SD_SERVER],
  pollMs: POLL_MS,
  typicalMs: TYPICAL_MS,
  plan: (request) => {
    requestedSize(request); // refuses now what the server cannot express
    extraFields(request);
    const parts = partsOf(request, Math.min(MOST, request.upstream.declared?.max_n ?? MOST));
    return { count: parts.length, parts, seeds: parts.map(({ first }) => seedAt(request, first)), approximations: [] };
  },
  prepareBody: (request, { parts }) => Promise.all(parts.map((part) => bodyOf(partOf(request, part), part))),
  create: (request, bodies, index) =>
    acceptedJob({
      provider: 'openai',
      call: call(request, '/img_gen', { method: 'POST', json: bodies[index] }),
      idOf: ({ json }) => parseReply(sdSubmitted, json).id,
      requestIdOf: () => undefined,
      refused: (reply) => submitRefused(reply, causeOf(request, reply)),
    }),
  read: (request, id, signal) => call(request, jobPath(id), { signal, maxBytes: MAX_BYTES_WITH_RESULT }),
  stateOf,
  outputs: (request, _id, reply) => {
    const images = parseReply(sdJob, reply.json).result?.images ?? [];
    const pictures = images.flatMap(({ b64_json: base64 }) => (base64 ? [`data:image/png;base64,${base64}`] : []));
    if (pictures.length === 0) throw new ProviderError('provider_no_result', { cause: causeOf(request, reply) });
    return pictures;
  },
  cancel: (request, id, signal) => call(request, `${jobPath(id)}/cancel`, { method: 'POST', signal }),
  // The server accepts a cancel only for a waiting job, so a cancelled job never ran. For a job that is generating, it
  // answers 409.
  neverRan: async () => true,
});

async function bodyOf(request: ProviderRequest, { first, n }: Part): Promise<object> {
  const { input, images, taskId } = request;
  const { width, height } = requestedSize(request).size;
  const references = await Promise.all(images.references.map(base64Of));
  return {
    prompt: input.prompt,
    ...(input.negative_prompt && { negative_prompt: input.negative_prompt }),
    width,
    height,
    batch_count: n,
    seed: input.seed ?? seedOf(taskId) + first,
    output_format: 'png',
    ...(references.length > 0 && { ref_images: references, init_image: references[0] }),
    ...(references.length > 0 && input.strength !== undefined && { strength: input.strength }),
    ...(images.mask && { mask_image: await base64Of(images.mask) }),
    ...extraFields(request, first),
  };
}

const base64Of = async ({ path }: InputImage): Promise<string> => (await readFile(path)).toString('base64');

const jobPath = (id: string): string => `/jobs/${encodeURIComponent(id)}`;

/**
 * Operators give the address of the OpenAI routes, which ends in `/v1`. The job API of the same server is under
 * `/sdcpp/v1`.
 */
function call({ upstream }: ProviderRequest, path: string, more: UpstreamCall): Promise<UpstreamReply> {
  const headers: Record<string, string> =
    upstream.apiKey === null ? {} : { authorization: `Bearer ${upstream.apiKey}` };
  return upstreamFetch(`${upstream.baseUrl.replace(/\/v1$/, '')}/sdcpp/v1${path}`, { headers, ...more });
}

function stateOf(request: ProviderRequest, reply: UpstreamReply): JobState {
  const { status = '' } = parseReply(sdJob, reply.json);
  if (status === 'completed') return DONE;
  if (status === 'queued') return PENDING;
  if (status === 'generating') return { state: 'running' };
  if (status === 'failed' || status === 'cancelled') {
    throw new ProviderError('internal_error', { cause: causeOf(request, reply) });
  }
  return { state: 'unknown', name: status };
}

function causeOf({ upstream }: ProviderRequest, { status, json, text: message }: UpstreamReply) {
  const { code } = parseReply(sdJob, json).error ?? {};
  return operatorCause('openai', upstream.apiKey, { status, message, ...(code !== undefined && { code }) });
}
