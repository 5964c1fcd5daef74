import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { Approximation } from '../../tasks/task.entity.ts';
import {
  ProviderError,
  type Provider,
  type PreparedRequest,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
} from '../provider.ts';
import { resultFailure, statusFailure, submitFailure } from './fal-errors.ts';
import { falOrder } from './fal-input.ts';
import type { FalErrorBody, FalResult, FalStatus, FalSubmitted } from './fal-wire.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { elapsedPercent } from '../jobs/elapsed-percent.ts';
import { junkCause } from '../wire/operator-cause.ts';
import { type PollOptions, poll, readWithRetry } from '../jobs/poll.ts';
import { cancelJobs, runJobs } from '../jobs/run-jobs.ts';
import { submitUnanswered } from '../wire/submit-failure.ts';
import type { Accepted } from '../jobs/submit-once.ts';
import { type UpstreamCall, type UpstreamReply, upstreamFetch } from '../wire/upstream-fetch.ts';

const POLL_MS = { image: 2_000, video: 5_000 };
const TYPICAL_MS = { image: 30_000, video: 180_000 };

/** fal keeps results a week and more; we copy them at once, and a day is enough for a worker's successor. */
const RESULT_LIFETIME = JSON.stringify({ expiration_duration_seconds: 86_400 });

/** fal's queue: gpt-image-2, the nano-bananas and Seedance 2.0. */
@Injectable()
export class FalProvider implements Provider {
  readonly name = 'fal';

  prepare(request: ProviderRequest): PreparedRequest {
    const approximations = this.plan(request);
    return { approximations, generate: (run) => this.generate(request, run) };
  }

  private plan(request: ProviderRequest): Approximation[] {
    return falOrder(request).approximations;
  }

  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    const { endpoint, count, inputs } = falOrder(request);
    let encoded: object[] | undefined;
    return runJobs<ProviderOutput>(run, {
      count,
      outputs: request.input.n ?? 1,
      retryMs: pollMs(request),
      submit: (index) => submit(request, endpoint, (encoded ??= inputs())[index] ?? {}),
      collect: (id, index, signal, progress) =>
        collect(request, id, join(run.scratchDir, `${index}`), signal, progress),
      cancel: (id, signal) => cancel(request, id, signal),
    });
  }

  async cancel(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<void> {
    await cancelJobs(upstreamId, (id) => cancel(request, id, signal));
  }
}

async function submit(request: ProviderRequest, endpoint: string, json: object): Promise<Accepted> {
  const { signal } = new AbortController();
  const headers = { 'x-fal-queue-priority': 'normal', 'x-fal-object-lifecycle-preference': RESULT_LIFETIME };
  const reply = await call(request, `/${endpoint}`, { method: 'POST', json, headers, signal }).catch(
    (error: unknown) => {
      throw submitUnanswered('fal', error);
    },
  );
  const { request_id: id } = (reply.json ?? {}) as FalSubmitted;
  if (reply.status >= 300 || typeof id !== 'string' || id === '') throw submitFailure(request, reply);
  return { id, requestId: reply.headers['x-fal-request-id'] ?? id };
}

async function collect(
  request: ProviderRequest,
  id: string,
  path: string,
  signal: AbortSignal,
  progress: (percent: number) => void,
): Promise<ProviderOutput[]> {
  const { kind, upstream } = request;
  const patience: PollOptions = { provider: 'fal', secret: upstream.apiKey, intervalMs: pollMs(request), signal };
  const percent = estimate(TYPICAL_MS[kind], progress);
  const look = () => call(request, `${pathOf(request, id)}/status`, { signal });
  await poll(look, (reply) => judge(request, reply.json as FalStatus, percent), patience);

  const read = () => call(request, pathOf(request, id), { signal });
  const urls = async () => {
    const reply = await readWithRetry(read, { ...patience, isAnswer });
    if (reply.status >= 300) throw resultFailure(request, reply);
    return urlsIn(request, reply);
  };
  return Promise.all(
    (await urls()).map((url, at) =>
      download({
        provider: 'fal',
        url,
        path: `${path}-${at}`,
        maxBytes: MAX_RESULT_BYTES[kind],
        baseUrl: upstream.baseUrl,
        retryMs: patience.intervalMs,
        signal,
        renew: async () => (await urls())[at] ?? url,
      }),
    ),
  );
}

/** @returns true at the end; null while it is on its way */
function judge(request: ProviderRequest, job: FalStatus, running: () => void): true | null {
  if (job.status === 'IN_PROGRESS') running();
  if (job.status !== 'COMPLETED') return null;
  // An error without a type says more on the result.
  if (job.error_type) throw statusFailure(request, job);
  return true;
}

/** The result of a failed request is the model's error, under its own status; without a detail it is the gateway's. */
function isAnswer({ status, json }: UpstreamReply): boolean {
  if (typeof json !== 'object' || json === null) return false;
  if (status >= 200 && status < 300) return true;
  return (status === 400 || status === 422 || status >= 500) && (json as FalErrorBody).detail !== undefined;
}

function urlsIn(request: ProviderRequest, reply: UpstreamReply): string[] {
  const { images, video } = reply.json as FalResult;
  const files = request.kind === 'video' ? [video] : Array.isArray(images) ? images : [];
  const urls = files.flatMap((file) => (typeof file?.url === 'string' ? [file.url] : []));
  if (urls.length > 0) return urls;
  throw new ProviderError('internal_error', { cause: junkCause('fal', request.upstream.apiKey, reply) });
}

async function cancel(request: ProviderRequest, id: string, signal: AbortSignal): Promise<void> {
  await call(request, `${pathOf(request, id)}/cancel`, { method: 'PUT', signal });
}

async function call({ upstream }: ProviderRequest, path: string, call: UpstreamCall): Promise<UpstreamReply> {
  const headers = { ...call.headers, authorization: `Key ${upstream.apiKey}` };
  return upstreamFetch(`${upstream.baseUrl}${path}`, { ...call, headers });
}

/**
 * Requests stand under the first two segments of their endpoint. Made here and not taken from the answer to the submit: a
 * successor has only the id, and no foreign text decides where our key is sent.
 */
function pathOf({ upstream }: ProviderRequest, id: string): string {
  return `/${upstream.model.split('/').slice(0, 2).join('/')}/requests/${encodeURIComponent(id)}`;
}

const pollMs = ({ kind, upstream }: ProviderRequest): number => upstream.pollIntervalMs ?? POLL_MS[kind];

/** fal does not say since when a request runs: since we first saw it do so. */
function estimate(typicalMs: number, progress: (percent: number) => void): () => void {
  let since: number | undefined;
  return () => {
    since ??= Date.now();
    progress(elapsedPercent(Date.now() - since, typicalMs));
  };
}
