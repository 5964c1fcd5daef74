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
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { elapsedPercent } from '../jobs/elapsed-percent.ts';
import { findJobAfterNoAnswer } from '../jobs/find-job.ts';
import { junkCause } from '../wire/operator-cause.ts';
import { poll } from '../jobs/poll.ts';
import { cancelJobs, runJobs } from '../jobs/run-jobs.ts';
import { submitUnanswered } from '../wire/submit-failure.ts';
import type { Accepted } from '../jobs/submit-once.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { callReplicate, replicatePatience } from './replicate-call.ts';
import { createFailure, predictionFailure } from './replicate-errors.ts';
import { handOver } from './replicate-files.ts';
import { replicateOrder } from './replicate-input.ts';
import { findPrediction } from './replicate-lookup.ts';
import type { Prediction } from './replicate-wire.ts';

const TYPICAL_MS = { image: 30_000, video: 180_000 };

/** Predictions of Replicate's official models: gpt-image-2, the nano-bananas and Seedance 2.0. */
@Injectable()
export class ReplicateProvider implements Provider {
  readonly name = 'replicate';

  prepare(request: ProviderRequest): PreparedRequest {
    const approximations = this.plan(request);
    return { approximations, generate: (run) => this.generate(request, run) };
  }

  private plan(request: ProviderRequest): Approximation[] {
    return replicateOrder(request).approximations;
  }

  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    const order = replicateOrder(request);
    let handed: Promise<object> | undefined;
    const input = () => (handed ??= handOver(request, order.images, run.signal).then(order.input));
    // Before the intent is committed: until then a crash has cost nothing.
    if (run.upstreamId === null) await input();
    return runJobs<ProviderOutput>(run, {
      count: order.count,
      outputs: request.input.n ?? 1,
      retryMs: replicatePatience(request, run.signal).intervalMs,
      submit: async (_index, signal) => submit(request, await input(), signal),
      collect: (id, index, signal, progress) =>
        collect(request, id, join(run.scratchDir, `${index}`), signal, progress),
      cancel: (id, signal) => cancel(request, id, signal),
    });
  }

  async find(request: ProviderRequest, signal: AbortSignal): Promise<string | null> {
    return findPrediction(request, signal);
  }

  async cancel(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<void> {
    await cancelJobs(upstreamId, (id) => cancel(request, id, signal));
  }
}

async function submit(request: ProviderRequest, input: object, signal: AbortSignal): Promise<Accepted> {
  try {
    return await create(request, input);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.billing !== 'unknown') throw error;
    const { intervalMs } = replicatePatience(request, signal);
    const id = await findJobAfterNoAnswer(() => findPrediction(request, signal), intervalMs, signal);
    if (id === null) throw error;
    return { id, requestId: null };
  }
}

async function create(request: ProviderRequest, input: object): Promise<Accepted> {
  const { signal } = new AbortController();
  const path = `/models/${request.upstream.model}/predictions`;
  const call = { method: 'POST', json: { input }, signal } as const;
  const reply = await callReplicate(request, path, call).catch((error: unknown) => {
    throw submitUnanswered('replicate', error);
  });
  const { id } = (reply.json ?? {}) as Prediction;
  if (reply.status >= 300 || typeof id !== 'string' || id === '') throw createFailure(request, reply);
  return { id, requestId: reply.headers['x-request-id'] ?? null };
}

async function collect(
  request: ProviderRequest,
  id: string,
  path: string,
  signal: AbortSignal,
  progress: (percent: number) => void,
): Promise<ProviderOutput[]> {
  const patience = replicatePatience(request, signal);
  const look = () => callReplicate(request, `/predictions/${encodeURIComponent(id)}`, { signal });
  const urls = () => poll(look, (reply) => judge(request, reply, progress), patience);
  return Promise.all(
    (await urls()).map((url, at) =>
      download({
        provider: 'replicate',
        url,
        path: `${path}-${at}`,
        maxBytes: MAX_RESULT_BYTES[request.kind],
        baseUrl: request.upstream.baseUrl,
        retryMs: patience.intervalMs,
        signal,
        renew: async () => (await urls())[at] ?? url,
      }),
    ),
  );
}

/** @returns where the outputs lie; null while they are being made */
function judge(request: ProviderRequest, reply: UpstreamReply, progress: (percent: number) => void): string[] | null {
  const prediction = reply.json as Prediction;
  switch (prediction.status) {
    case 'succeeded':
      return urlsIn(request, reply);
    case 'failed':
    case 'canceled':
    case 'aborted':
      throw predictionFailure(request, prediction);
    case 'processing':
      progress(percentOf(request, prediction));
  }
  return null;
}

function urlsIn({ upstream }: ProviderRequest, reply: UpstreamReply): string[] {
  const { output } = reply.json as Prediction;
  const urls = [output].flat().filter((url): url is string => typeof url === 'string' && url !== '');
  if (urls.length > 0) return urls;
  throw new ProviderError('internal_error', { cause: junkCause('replicate', upstream.apiKey, reply) });
}

/** The last progress bar in the logs where the model prints one, else by the clock. */
function percentOf({ kind }: ProviderRequest, { logs, started_at }: Prediction): number {
  const printed = [...(logs ?? '').slice(-2_000).matchAll(/(\d{1,3})%\|/g)].at(-1)?.[1];
  if (printed !== undefined) return Number(printed);
  const startedMs = Date.parse(started_at ?? '');
  return Number.isNaN(startedMs) ? 0 : elapsedPercent(Date.now() - startedMs, TYPICAL_MS[kind]);
}

async function cancel(request: ProviderRequest, id: string, signal: AbortSignal): Promise<void> {
  await callReplicate(request, `/predictions/${encodeURIComponent(id)}/cancel`, { method: 'POST', signal });
}
