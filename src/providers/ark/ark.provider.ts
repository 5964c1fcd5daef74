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
import { arkBody, arkShot } from './ark-body.ts';
import { arkCall, arkPatience } from './ark-call.ts';
import { createFailure, taskFailure } from './ark-errors.ts';
import { findTask } from './ark-lookup.ts';
import type { ArkTask } from './ark-wire.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { elapsedPercent } from '../jobs/elapsed-percent.ts';
import { findJobAfterNoAnswer } from '../jobs/find-job.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { poll } from '../jobs/poll.ts';
import { runJobs } from '../jobs/run-jobs.ts';
import { submitUnanswered } from '../wire/submit-failure.ts';
import type { Accepted } from '../jobs/submit-once.ts';
import { taskTimeMs } from '../jobs/task-time.ts';
import { upstreamFetch } from '../wire/upstream-fetch.ts';

/** A film of five seconds takes one to six minutes. */
const TYPICAL_MS = 180_000;

/** Seedance 2.0 on Volcengine Ark or BytePlus ModelArk; in the names of the public API both seedance-2 and sora-2. */
@Injectable()
export class ArkProvider implements Provider {
  readonly name = 'ark';

  prepare(request: ProviderRequest): PreparedRequest {
    const approximations = this.plan(request);
    return { approximations, generate: (run) => this.generate(request, run) };
  }

  private plan(request: ProviderRequest): Approximation[] {
    return arkShot(request).approximations;
  }

  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    return runJobs(run, {
      count: 1,
      outputs: 1,
      retryMs: arkPatience(request, run.signal).intervalMs,
      submit: (_index, signal) => this.submit(request, signal),
      collect: async (id, _index, signal, progress) => [
        await this.collect(request, id, run.scratchDir, signal, progress),
      ],
      cancel: (id, signal) => this.cancel(request, id, signal),
    });
  }

  async find(request: ProviderRequest, signal: AbortSignal): Promise<string | null> {
    return findTask(request, taskTimeMs(request.taskId) / 1000, signal);
  }

  /** Works while the task is queued; a running one is refused and goes on to its end. */
  async cancel(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<void> {
    await upstreamFetch(...arkCall(request, `/${encodeURIComponent(upstreamId)}`, { method: 'DELETE', signal }));
  }

  private async submit(request: ProviderRequest, signal: AbortSignal): Promise<Accepted> {
    const json = arkBody(request);
    const since = Date.now() / 1000;
    try {
      return await this.create(request, json);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.billing !== 'unknown') throw error;
      const { intervalMs } = arkPatience(request, signal);
      const id = await findJobAfterNoAnswer(() => findTask(request, since, signal), intervalMs, signal);
      if (id === null) throw error;
      return { id, requestId: null };
    }
  }

  private async create(request: ProviderRequest, json: object): Promise<Accepted> {
    const { signal } = new AbortController();
    const reply = await upstreamFetch(...arkCall(request, '', { method: 'POST', json, signal })).catch(
      (error: unknown) => {
        throw submitUnanswered('ark', error);
      },
    );
    const { id } = (reply.json ?? {}) as ArkTask;
    if (reply.status >= 300 || typeof id !== 'string' || id === '') throw createFailure(request, reply);
    return { id, requestId: reply.headers['x-request-id'] ?? null };
  }

  private async collect(
    request: ProviderRequest,
    id: string,
    scratchDir: string,
    signal: AbortSignal,
    progress: (percent: number) => void,
  ): Promise<ProviderOutput> {
    const patience = arkPatience(request, signal);
    const look = () => upstreamFetch(...arkCall(request, `/${encodeURIComponent(id)}`, { signal }));
    const watch = () => poll(look, ({ json }) => judge(request, json as ArkTask, progress), patience);
    return download({
      provider: this.name,
      url: await watch(),
      path: join(scratchDir, 'film.mp4'),
      maxBytes: MAX_RESULT_BYTES.video,
      baseUrl: request.upstream.baseUrl,
      retryMs: patience.intervalMs,
      signal,
      renew: watch, // a link lives for 24 h, its task's record signs a new one
    });
  }
}

/** @returns the film's address; null while it is being made */
function judge(request: ProviderRequest, task: ArkTask, progress: (percent: number) => void): string | null {
  const { status, content, created_at: createdAt } = task;
  if (status === 'succeeded') {
    if (typeof content?.video_url === 'string') return content.video_url;
    const cause = operatorCause('ark', request.upstream.apiKey, { code: 'succeeded_without_video_url' });
    throw new ProviderError('internal_error', { cause });
  }
  if (status === 'failed' || status === 'cancelled' || status === 'expired') throw taskFailure(request, task);
  if (status === 'running') progress(elapsedPercent(Date.now() - (createdAt ?? Date.now() / 1000) * 1000, TYPICAL_MS));
  return null;
}
