import { ProviderError, type ProviderOutput, type ProviderRequest, type Run } from '../contract/provider.ts';
import { acceptedJob } from '../jobs/accepted-job.ts';
import { withDeclaredMask } from '../wire/alpha-mask.ts';
import { pause } from '../wire/pause.ts';
import { runJobs } from '../jobs/run-jobs.ts';
import type { Accepted } from '../jobs/submit-once.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { paidCall } from '../wire/paid-call.ts';
import { parseReply } from '../wire/reply-schema.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { runFailure, submitFailure } from './comfy-errors.ts';
import type { ComfyPlan } from './comfy-plan.ts';
import {
  cancelRun,
  comfyFetch,
  comfyPollOptions,
  headersOf,
  isSubmitted,
  readHistory,
  readQueue,
  uploadImage,
} from './comfy-server.ts';
import { downloadOutputs } from './comfy-outputs.ts';
import { type HistoryEntry, submitted } from './comfy-wire.ts';
import { JobWatch } from './job-watch.ts';
import { clientId, promptId, seedOf } from './prompt-id.ts';
import { fill, type SlotValues } from './slots.ts';

/**
 * A run may move from the queue to the history between the reads of the two, and be found in neither. After three such
 * misses in a row, it counts as lost.
 */
const MAX_MISSES = 3;

const CANCEL_TIMEOUT_MS = 5_000;

/** One generation on a ComfyUI server, as one or several runs of a workflow. */
export class ComfyRun {
  private readonly intervalMs: number;
  private readonly watch: JobWatch;
  private images: Promise<SlotValues> | null = null;
  /** How often the server has lost each run, by the index of the run. */
  private readonly losses: number[] = [];
  /**
   * The reports of lost runs, by the number of the loss: the first loss of a run, the second, and so on. Runs that are
   * lost together share one report, so a restart of the server costs one attempt.
   */
  private readonly lostAttempts: Promise<boolean>[] = [];

  constructor(
    private readonly request: ProviderRequest,
    private readonly plan: ComfyPlan,
    private readonly run: Run,
  ) {
    const { upstream, taskId } = request;
    this.intervalMs = comfyPollOptions(request, run.signal).intervalMs;
    const socket = `${upstream.baseUrl.replace(/^http/, 'ws')}/ws?clientId=${clientId(taskId)}`;
    this.watch = new JobWatch(socket, headersOf(request));
  }

  async generate(): Promise<ProviderOutput[]> {
    const { request, plan, run, watch } = this;
    const { taskId } = request;
    try {
      plan.counts.forEach((_, index) => watch.follow(promptId(taskId, index), Object.keys(plan.workflow)));
      if (run.upstreamId === null) await this.uploaded();
      return await runJobs(withoutIntent(run), {
        provider: 'comfyui',
        taskId,
        count: plan.counts.length,
        outputs: request.kind === 'image' ? (request.input.n ?? 1) : 1,
        ...(plan.sendsSeed && { seeds: plan.counts.map((_, index) => this.seedAt(index)) }),
        retryMs: this.intervalMs,
        submit: (index, signal) => this.submit(index, signal),
        wait: async (id, index, signal, progress) => {
          watch.report(id, progress);
          const entry = await this.waitForEnd(id, index, signal);
          const failure = runFailure(request, entry);
          if (failure) throw failure;
          return entry;
        },
        collect: (entry, index, signal) =>
          downloadOutputs(request, entry, { run, index, expected: plan.counts[index] ?? 1, signal }),
        cancel: (id, signal) => cancelRun(request, id, signal),
      });
    } finally {
      watch.close();
    }
  }

  /** The names of the uploaded images; uploads them on the first call. */
  private uploaded(): Promise<SlotValues> {
    this.images ??= this.upload();
    return this.images;
  }

  private async upload(): Promise<SlotValues> {
    const values: SlotValues = {};
    const { images } = await withDeclaredMask(this.request);
    for (const { slot, of } of this.plan.roles.images) {
      const image = of(images);
      if (!image) throw new Error(`The image for ${slot} was not fetched.`);
      values[slot] = await uploadImage(this.request, image, this.run.signal);
    }
    return values;
  }

  private async submit(index: number, signal: AbortSignal): Promise<Accepted> {
    const id = promptId(this.request.taskId, index);
    if (this.run.submittedBefore && (await isSubmitted(this.request, id, signal))) return { id, requestId: null };
    try {
      return await this.create(id, index);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.billing !== 'unknown') throw error;
      return this.lookUp(id, error, signal);
    }
  }

  private async create(id: string, index: number): Promise<Accepted> {
    const { request, plan } = this;
    const { taskId } = request;
    const images = await this.uploaded();
    const values = { ...plan.values, ...images, seed: this.seedAt(index), batch_size: plan.counts[index] };
    const json = { prompt: fill(plan.workflow, values), client_id: clientId(taskId), prompt_id: id };
    const idOf = (reply: UpstreamReply) => parseReply(submitted, reply.json).prompt_id;
    const job = await acceptedJob({
      provider: 'comfyui',
      call: paidCall(this.run, () => comfyFetch(request, '/prompt', { method: 'POST', json })),
      idOf,
      requestIdOf: () => undefined,
      refused: (reply) => submitFailure(request, reply),
    });
    if (job.id === id) return job;
    // The server is too old to accept an id from this service. After a crash its runs could not be looked up, so it
    // gets no work.
    await cancelRun(request, job.id, AbortSignal.timeout(CANCEL_TIMEOUT_MS)).catch(() => undefined);
    throw new ProviderError('internal_error', { cause: operatorCause('comfyui', null, { code: 'prompt_id_ignored' }) });
  }

  /**
   * The seed of a run. The seed of a request is raised by the number of images in the earlier runs, so that no two runs
   * share a seed.
   */
  private seedAt(index: number): number {
    const { input, taskId } = this.request;
    if (input.seed === undefined) return seedOf(taskId, index);
    return input.seed + this.plan.counts.slice(0, index).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Looks for a run whose submission got no answer. The server checks a submission for a moment before it queues the
   * run. If three lookups do not find the run, it does not exist.
   */
  private async lookUp(id: string, { cause, retryAfterMs }: ProviderError, signal: AbortSignal): Promise<Accepted> {
    for (let lookup = 1; lookup <= MAX_MISSES; lookup++) {
      if (lookup > 1) await pause(this.intervalMs, signal);
      if (await isSubmitted(this.request, id, signal)) return { id, requestId: null };
    }
    throw new ProviderError('provider_unavailable', { billing: 'none', cause, retryAfterMs });
  }

  private async waitForEnd(id: string, index: number, signal: AbortSignal): Promise<HistoryEntry> {
    for (let misses = 0; ;) {
      const entry = await readHistory(this.request, id, signal);
      if (entry) return entry;
      misses = (await readQueue(this.request, id, signal)) === null ? misses + 1 : 0;
      if (misses === MAX_MISSES) {
        await this.resubmit(id, index, signal);
        misses = 0;
      }
      await this.watch.waitForEnd(id, this.intervalMs, signal);
    }
  }

  /**
   * Submits a lost run again, which costs nothing. A server loses its queue and history by a restart, or a user clears
   * them.
   */
  private async resubmit(id: string, index: number, signal: AbortSignal): Promise<void> {
    const losses = (this.losses[index] ?? 0) + 1;
    this.losses[index] = losses;
    const isLast = !(await (this.lostAttempts[losses] ??= this.run.resubmitting()));
    if (isLast)
      throw new ProviderError('provider_unavailable', { cause: 'The provider lost the run of the last attempt.' });
    this.assertImages();
    this.images = null; // a server that lost the run may have lost the images
    this.watch.follow(id, Object.keys(this.plan.workflow));
    for (;;) {
      try {
        await this.create(id, index);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ProviderError)) throw error;
        if (error.billing === 'unknown') return; // the polls show whether the run was accepted
        if (error.code !== 'provider_unavailable') throw error;
        await pause(Math.max(this.intervalMs, error.retryAfterMs ?? 0), signal);
      }
    }
  }

  /**
   * A worker that takes over a video has no images, so it cannot submit a lost run again.
   * @throws ProviderError provider_unavailable, after which the task starts from the beginning
   */
  private assertImages(): void {
    const { plan, request } = this;
    if (plan.roles.images.every(({ of }) => of(request.images))) return;
    const cause = operatorCause('comfyui', null, { code: 'run_lost' });
    throw new ProviderError('provider_unavailable', { billing: 'none', cause });
  }
}

/**
 * The run without the `?` at the end of `upstreamId`. The mark stands for a further submission that got no answer.
 * `runJobs` would give up at the mark, but here the submission is looked up by its id.
 */
function withoutIntent(run: Run): Run {
  return {
    upstreamId: run.upstreamId?.replace(/,?\?$/, '') ?? null,
    submittedBefore: run.submittedBefore,
    signal: run.signal,
    get scratchDir() {
      return run.scratchDir;
    },
    partialImages: run.partialImages,
    progress: (percent) => run.progress(percent),
    tokens: (tokens) => run.tokens(tokens),
    partialImage: (image) => run.partialImage(image),
    assertHeld: () => run.assertHeld(),
    submitting: () => run.submitting(),
    callingAgain: () => run.callingAgain(),
    fewer: (made, unknown) => run.fewer(made, unknown),
    seeds: (ofOutputs) => run.seeds(ofOutputs),
    submitted: (id, requestId) => run.submitted(id, requestId),
    resubmitting: () => run.resubmitting(),
    linkTo: (image) => run.linkTo(image),
    releaseImages: () => run.releaseImages(),
    polling: (work) => run.polling(work),
  };
}
