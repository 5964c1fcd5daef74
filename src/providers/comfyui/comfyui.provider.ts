import { loadTemplate } from './load-template.ts';
import { Injectable } from '@nestjs/common';
import { extname, join } from 'node:path';
import type { Approximation } from '../../tasks/task.entity.ts';
import {
  type Provider,
  ProviderError,
  type PreparedRequest,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
} from '../provider.ts';
import { runFailure, submitFailure } from './comfy-errors.ts';
import { type ComfyPlan, comfyPlan } from './comfy-plan.ts';
import {
  cancelRun,
  comfyFetch,
  comfyPatience,
  headersOf,
  isKnown,
  isSubmitted,
  readHistory,
  readQueue,
  uploadImage,
} from './comfy-server.ts';
import { type HistoryEntry, outputFiles } from './history.ts';
import { JobWatch } from './job-watch.ts';
import { clientId, promptId, seedOf } from './prompt-id.ts';
import { fill, type SlotValues } from './slots.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { pause } from '../jobs/pause.ts';
import { cancelJobs, runJobs } from '../jobs/run-jobs.ts';
import { submitUnanswered } from '../wire/submit-failure.ts';
import type { Accepted } from '../jobs/submit-once.ts';

/** One "unknown" is noise: the run may have moved between two reads. Three in a row: the server has lost it. */
const MAX_MISSES = 3;

const CANCEL_TIMEOUT_MS = 5_000;

/** A ComfyUI server of the operator's own. Its runs bear ids of ours, so one that got no answer can be looked up. */
@Injectable()
export class ComfyuiProvider implements Provider {
  readonly name = 'comfyui';

  check(upstreamModel: string, modelId: string): void {
    loadTemplate(upstreamModel, modelId);
  }

  prepare(request: ProviderRequest): PreparedRequest {
    const approximations = this.plan(request);
    return { approximations, generate: (run) => this.generate(request, run) };
  }

  private plan(request: ProviderRequest): Approximation[] {
    return comfyPlan(request).approximations;
  }

  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    const plan = comfyPlan(request);
    const { intervalMs } = comfyPatience(request, run.signal);
    const socket = `${request.upstream.baseUrl.replace(/^http/, 'ws')}/ws?clientId=${clientId(request.taskId)}`;
    const watch = new JobWatch(socket, headersOf(request));
    let images: Promise<SlotValues> | null = null;
    const uploaded = () => (images ??= this.upload(request, plan, run.signal));
    try {
      plan.counts.forEach((_, index) => watch.follow(promptId(request.taskId, index), Object.keys(plan.workflow)));
      if (run.upstreamId === null) await uploaded();
      return await runJobs(lookingUp(run), {
        count: plan.counts.length,
        outputs: request.kind === 'image' ? (request.input.n ?? 1) : 1,
        retryMs: intervalMs,
        submit: async (index, signal) => {
          const id = promptId(request.taskId, index);
          if (run.submittedBefore && (await isSubmitted(request, id, signal))) return { id, requestId: null };
          return this.submit(request, plan, index, await uploaded(), signal);
        },
        collect: async (id, index, signal, progress) => {
          watch.report(id, progress);
          const entry = await this.ended(request, id, watch, signal);
          return this.bringHome(request, entry, plan.counts[index] ?? 1, join(run.scratchDir, `${index}`), signal);
        },
        cancel: (id, signal) => cancelRun(request, id, signal),
      });
    } finally {
      watch.close();
    }
  }

  async find(request: ProviderRequest, signal: AbortSignal): Promise<string | null> {
    const id = promptId(request.taskId, 0);
    return (await isKnown(request, id, signal)) ? id : null;
  }

  async cancel(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<void> {
    await cancelJobs(upstreamId, (id) => cancelRun(request, id, signal));
  }

  private async upload(request: ProviderRequest, { roles }: ComfyPlan, signal: AbortSignal): Promise<SlotValues> {
    const values: SlotValues = {};
    for (const { slot, of } of roles.images) {
      const image = of(request.images);
      if (!image) throw new Error(`The image for ${slot} was not fetched.`);
      values[slot] = await uploadImage(request, image, signal);
    }
    return values;
  }

  private async submit(
    request: ProviderRequest,
    plan: ComfyPlan,
    index: number,
    images: SlotValues,
    signal: AbortSignal,
  ): Promise<Accepted> {
    const { taskId } = request;
    const id = promptId(taskId, index);
    const values = { ...plan.values, ...images, seed: seedOf(taskId, index), batch_size: plan.counts[index] };
    const json = { prompt: fill(plan.workflow, values), client_id: clientId(taskId), prompt_id: id };
    try {
      return await this.post(request, id, json);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.billing !== 'unknown') throw error;
      return this.lookUp(request, id, error, signal);
    }
  }

  private async post(request: ProviderRequest, id: string, json: object): Promise<Accepted> {
    const { signal } = new AbortController();
    const reply = await comfyFetch(request, '/prompt', { method: 'POST', json, signal }).catch((error: unknown) => {
      throw submitUnanswered('comfyui', error);
    });
    const { prompt_id: given } = (reply.json ?? {}) as Record<string, unknown>;
    if (reply.status < 300 && typeof given === 'string' && given !== id) {
      // A server too old to take our id: nothing could be looked up, so nothing is asked of it.
      await cancelRun(request, given, AbortSignal.timeout(CANCEL_TIMEOUT_MS)).catch(() => undefined);
      throw new ProviderError('internal_error', {
        cause: operatorCause(this.name, null, { code: 'prompt_id_ignored' }),
      });
    }
    if (reply.status >= 300 || given !== id) throw submitFailure(request, reply);
    return { id, requestId: null };
  }

  /** The checks before the queue take a moment: three looks. After them the run surely does not exist. */
  private async lookUp(
    request: ProviderRequest,
    id: string,
    failure: ProviderError,
    signal: AbortSignal,
  ): Promise<Accepted> {
    const { intervalMs } = comfyPatience(request, signal);
    for (let look = 1; look <= MAX_MISSES; look++) {
      if (look > 1) await pause(intervalMs, signal);
      if (await isSubmitted(request, id, signal)) return { id, requestId: null };
    }
    const { cause, retryAfterMs } = failure;
    const hint = retryAfterMs === undefined ? {} : { retryAfterMs };
    throw new ProviderError('provider_unavailable', { billing: 'none', cause, ...hint });
  }

  private async ended(
    request: ProviderRequest,
    id: string,
    watch: JobWatch,
    signal: AbortSignal,
  ): Promise<HistoryEntry> {
    const { intervalMs } = comfyPatience(request, signal);
    for (let misses = 0; ;) {
      const entry = await readHistory(request, id, signal);
      if (entry) return entry;
      misses = (await readQueue(request, id, signal)) === null ? misses + 1 : 0;
      if (misses === MAX_MISSES) {
        const cause = operatorCause(this.name, null, { code: 'run_lost', message: `run ${id} is unknown` });
        throw new ProviderError('internal_error', { cause });
      }
      await watch.quiet(id, intervalMs, signal);
    }
  }

  private async bringHome(
    request: ProviderRequest,
    entry: HistoryEntry,
    count: number,
    path: string,
    signal: AbortSignal,
  ): Promise<ProviderOutput[]> {
    const { kind, upstream } = request;
    const failure = runFailure(request, entry);
    if (failure) throw failure;
    const files = outputFiles(entry, kind);
    if (files.length !== count) {
      const message = `the workflow saved ${files.length} files of kind ${kind}, not ${count}`;
      throw new ProviderError('internal_error', {
        cause: operatorCause(this.name, null, { code: 'outputs', message }),
      });
    }
    const outputs: ProviderOutput[] = [];
    for (const [at, file] of files.entries()) {
      const output = await download({
        provider: this.name,
        url: `${upstream.baseUrl}/view?${new URLSearchParams({ ...file })}`,
        path: `${path}-${at}${extname(file.filename).toLowerCase()}`,
        maxBytes: MAX_RESULT_BYTES[kind],
        baseUrl: upstream.baseUrl,
        headers: headersOf(request),
        retryMs: comfyPatience(request, signal).intervalMs,
        signal,
      });
      outputs.push(output);
    }
    return outputs;
  }
}

/** The mark of a further run whose submission got no answer is of no use here: such a run is looked up by its id. */
function lookingUp(run: Run): Run {
  return {
    upstreamId: run.upstreamId?.replace(/,?\?$/, '') ?? null,
    submittedBefore: run.submittedBefore,
    signal: run.signal,
    get scratchDir() {
      return run.scratchDir;
    },
    progress: (percent) => run.progress(percent),
    submitting: () => run.submitting(),
    submitted: (id, requestId) => run.submitted(id, requestId),
  };
}
