import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import {
  type Provider,
  ProviderError,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
} from '../contract/provider.ts';
import { callingFor } from '../wire/call-metrics.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { paidCall } from '../wire/paid-call.ts';
import type { Tokens } from '../../tasks/record/task-usage.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { cancelJob } from './cancel-job.ts';
import { elapsedPercent } from './elapsed-percent.ts';
import { findJobAfterNoAnswer } from './find-job.ts';
import { isObject, poll, type PollOptions, pollOptions } from './poll.ts';
import { cancelJobs, DOWNLOAD_TRIES, runJobs } from './run-jobs.ts';
import type { Accepted } from './submit-once.ts';

interface JobPlan {
  /** The number of jobs that make all outputs. */
  count: number;
  /** The seed that is sent for each job; missing: no seed is sent. */
  seeds?: readonly number[];
  approximations: Approximation[];
}

/** The number of polls with an unknown state after which the state counts as lasting. */
const UNKNOWN_POLLS = 3;

const logger = new Logger('providers');

/** What a status reply says of a job. For a failed job, an error is thrown instead. */
export type JobState =
  | { state: 'pending' | 'done' }
  /** `name`: a state that the adapter does not know. It is empty if the reply contains no state. */
  | { state: 'unknown'; name: string }
  /**
   * `percent`: as the upstream reports it. If it is missing, it is estimated from the time since `sinceMs` (unix
   * milliseconds) or, without that, since the first reply with the state `running`.
   */
  | { state: 'running'; percent?: number | undefined; sinceMs?: number | undefined };

export const PENDING: JobState = { state: 'pending' };
export const DONE: JobState = { state: 'done' };

/**
 * The facts of one upstream's job API. `jobAdapter` turns them into a provider.
 * @typeParam Plan a request translated for this upstream
 * @typeParam Body what the create calls of a plan need; stays in memory until every job is accepted
 */
export interface JobWire<Plan extends JobPlan, Body> {
  name: string;
  takes: Provider['takes'];
  /** Milliseconds between polls, unless the binding says otherwise. */
  pollMs: Record<MediaKind, number>;
  /** How long a job usually runs, for estimated progress. */
  typicalMs: Record<MediaKind, number>;
  /** @throws UnsupportedRequest */
  plan(request: ProviderRequest): Plan;
  /**
   * Uploads or converts the images for the create calls. This is free, so it happens before the intent to pay is
   * recorded.
   */
  prepareBody(request: ProviderRequest, plan: Plan, run: Pick<Run, 'signal' | 'linkTo'>): Promise<Body>;
  /**
   * Creates the job of this index: one paid call, sent once and without a signal.
   * @throws ProviderError whose `billing` says what the call may have cost
   */
  create(request: ProviderRequest, body: Body, index: number): Promise<Accepted>;
  /** Reads a job's status once. */
  read(request: ProviderRequest, id: string, signal: AbortSignal): Promise<UpstreamReply>;
  /** Whether a status reply with an error status still describes the job. Missing: no such reply does. */
  isRecord?(reply: UpstreamReply): boolean;
  /** @throws ProviderError of a job that failed */
  stateOf(request: ProviderRequest, reply: UpstreamReply): JobState;
  /** For a job in a state that the adapter does not know: whether its result can be downloaded. */
  hasResult?(request: ProviderRequest, id: string, signal: AbortSignal): Promise<boolean>;
  /** Reads the result of a finished job, if the upstream keeps it apart from the status. */
  readResult?(request: ProviderRequest, id: string, options: PollOptions): Promise<UpstreamReply>;
  /**
   * URLs of a finished job's outputs.
   * @param reply the result if there is `readResult`, otherwise the last status
   * @throws ProviderError
   */
  outputs(request: ProviderRequest, id: string, reply: UpstreamReply): string[];
  /** Whether a link of an output may be followed. Missing: to any public address. */
  mayLead?(request: ProviderRequest, url: URL): boolean;
  /** Headers of each download. They are sent only to the origin of the upstream. */
  downloadHeaders?(request: ProviderRequest): Record<string, string>;
  cancel(request: ProviderRequest, id: string, signal: AbortSignal): Promise<UpstreamReply>;
  /**
   * Whether a reply to a cancel means that the job has ended already. The statuses 404, 409 and 410 always mean this.
   */
  hasEnded?(reply: UpstreamReply): boolean;
  /**
   * Called when the upstream has accepted a cancel with the reply `accepted`. Returns whether the upstream confirms
   * that the job never ran. Missing: the upstream never confirms it.
   */
  neverRan?(request: ProviderRequest, id: string, signal: AbortSignal, accepted: UpstreamReply): Promise<boolean>;
  /** The tokens in the last status reply of a finished job; null when there are none. */
  tokens?(reply: UpstreamReply): Tokens | null;
  /**
   * Finds a job whose create call got no answer. Only for upstreams whose list shows which task a job belongs to.
   * @param sinceMs unix milliseconds; the job is not older
   * @returns the id of the job; null when the upstream does not know the job
   * @throws ProviderError provider_unavailable when the list cannot be read now, provider_outcome_unknown when it does
   *   not show whether the job exists
   */
  find?(request: ProviderRequest, sinceMs: number, signal: AbortSignal): Promise<string | null>;
  /** Whether a job certainly does not exist if three calls of `find` have not found it. Missing: it may exist. */
  isAbsenceCertain?(request: ProviderRequest): boolean;
}

type JobProvider = Provider & Required<Pick<Provider, 'cancel'>>;

/** A provider for an upstream with an API for jobs: plan, submit, poll, download, cancel. */
export function jobAdapter<Plan extends JobPlan, Body>(wire: JobWire<Plan, Body>): JobProvider {
  const { name, takes, find } = wire;
  return {
    name,
    takes,
    prepare: (request) => {
      const plan = wire.plan(request);
      return { approximations: plan.approximations, generate: (run) => generate(wire, request, plan, run) };
    },
    ...(find && { find: async (request, signal, since) => callingFor('find', () => find(request, since, signal)) }),
    cancel: (request, upstreamId, signal) => cancelJobs(upstreamId, (id) => cancel(wire, request, id, signal)),
  };
}

async function generate<Plan extends JobPlan, Body>(
  wire: JobWire<Plan, Body>,
  request: ProviderRequest,
  plan: Plan,
  run: Run,
): Promise<ProviderOutput[]> {
  run.signal.throwIfAborted();
  let prepared: Promise<Body> | undefined;
  const body = () => (prepared ??= wire.prepareBody(request, plan, run));
  // The body is prepared before the intent is recorded. A crash until then costs nothing.
  if (run.upstreamId === null) await body();
  const job = new WireJob(wire, request);
  return runJobs<ResultFile[], ProviderOutput>(run, {
    provider: wire.name,
    taskId: request.taskId,
    count: plan.count,
    outputs: job.wanted,
    seeds: plan.seeds,
    retryMs: job.intervalMs,
    submit: async (index, signal) => job.submit(await body(), index, { run, signal }),
    accepted: () => {
      prepared = undefined; // the body may contain an image
      return run.releaseImages();
    },
    wait: (id, _index, signal, progress) =>
      job.waitForFiles(id, signal, { progress, tokens: (tokens) => run.tokens(tokens) }),
    collect: (files, index, signal) =>
      Promise.all(files.map((file, at) => job.download(file, join(run.scratchDir, `${index}-${at}`), signal))),
    cancel: async (id, signal) => void (await cancel(wire, request, id, signal)),
  });
}

type Cancel = Pick<JobWire<JobPlan, unknown>, 'name' | 'cancel' | 'hasEnded' | 'neverRan'>;

/** @returns true when the upstream has confirmed that the job was cancelled before it ran */
async function cancel(wire: Cancel, request: ProviderRequest, id: string, signal: AbortSignal): Promise<true | void> {
  const { name: provider, hasEnded } = wire;
  let reply: UpstreamReply | undefined;
  const send = async () => (reply = await callingFor('cancel', () => wire.cancel(request, id, signal)));
  const accepted = await cancelJob({ provider, secret: request.upstream.apiKey, send, hasEnded, signal });
  if (accepted && (await wire.neverRan?.(request, id, signal, reply!).catch(() => false))) return true;
}

interface ResultFile {
  url: string;
  /** Reads the result again and returns a new URL, because the links of the upstream expire. */
  renew: () => Promise<string>;
}

/** Makes the calls of one request: submit, poll, download. */
class WireJob<Plan extends JobPlan, Body> {
  readonly intervalMs: number;
  /** The number of outputs of the whole request. */
  readonly wanted: number;

  constructor(
    private readonly wire: JobWire<Plan, Body>,
    private readonly request: ProviderRequest,
  ) {
    this.intervalMs = request.upstream.pollIntervalMs ?? wire.pollMs[request.kind];
    this.wanted = request.kind === 'image' ? (request.input.n ?? 1) : 1;
  }

  async submit(body: Body, index: number, { run, signal }: { run: Run; signal: AbortSignal }): Promise<Accepted> {
    const { wire, request } = this;
    const sinceMs = Date.now();
    try {
      return await paidCall(run, () => wire.create(request, body, index));
    } catch (error) {
      if (!wire.find || !(error instanceof ProviderError) || error.billing !== 'unknown') throw error;
      if (index > 0) throw error; // jobs of one task look the same, so a lookup would find the first one again
      const find = async () => callingFor('find', () => wire.find?.(request, sinceMs, signal)) ?? null;
      const found = await run.polling(() => findJobAfterNoAnswer(find, this.intervalMs, signal));
      if (found.id !== null) return { id: found.id, requestId: null };
      if (!found.isAbsent || !wire.isAbsenceCertain?.(request)) throw error;
      // An upstream that loses its answers, and then does not list the jobs, must not be paid again and again.
      if (!(await run.resubmitting())) throw error;
      throw new ProviderError('provider_unavailable', { billing: 'none', cause: error.cause });
    }
  }

  async waitForFiles(
    id: string,
    signal: AbortSignal,
    { progress, tokens }: { progress: (percent: number) => void; tokens: Run['tokens'] },
  ): Promise<ResultFile[]> {
    const { wire, request } = this;
    const options = {
      ...pollOptions(wire.name, request, this.intervalMs, signal),
      isAnswer: (reply: UpstreamReply) => isObject(reply) || (wire.isRecord?.(reply) ?? false),
    };
    const read = () => callingFor('poll', () => wire.read(request, id, signal));
    const percent = this.percentMeter();
    const hasResult = this.unknownStates(id, signal);
    const isDone = async (reply: UpstreamReply) => {
      const state = wire.stateOf(request, reply);
      if (state.state === 'running') progress(percent(state));
      const isMade = state.state === 'unknown' ? await hasResult(state.name) : state.state === 'done';
      return isMade ? reply : null;
    };
    const status = () => poll(read, isDone, options);
    const result = () => callingFor('result', () => wire.readResult?.(request, id, options)) ?? status();
    const urlsIn = (reply: UpstreamReply) => wire.outputs(request, id, reply);
    const ended = await status();
    const reported = wire.tokens?.(ended);
    if (reported) tokens(reported);
    const urls = urlsIn(wire.readResult ? await result() : ended);
    // No more outputs are downloaded than were requested, however many the answer lists.
    return urls.slice(0, this.wanted).map((url, at) => ({ url, renew: async () => urlsIn(await result())[at] ?? url }));
  }

  async download({ url, renew }: ResultFile, path: string, signal: AbortSignal): Promise<ProviderOutput> {
    const { kind, upstream } = this.request;
    const { name: provider, downloadHeaders, mayLead } = this.wire;
    const headers = downloadHeaders?.(this.request);
    return download({
      provider,
      url,
      path,
      maxBytes: MAX_RESULT_BYTES[kind],
      baseUrl: upstream.baseUrl,
      ...(headers && { headers }),
      ...(mayLead && { mayLead: (to: URL) => mayLead(this.request, to) }),
      retryMs: this.intervalMs,
      tries: DOWNLOAD_TRIES,
      signal,
      renew,
    });
  }

  /**
   * A state that the adapter does not know may be a new name for the end of a job. If the state lasts, it is logged
   * once. From then on, the job counts as ended when its result can be downloaded.
   */
  private unknownStates(id: string, signal: AbortSignal): (name: string) => Promise<boolean> {
    const { wire, request } = this;
    let polls = 0;
    return async (name) => {
      polls += 1;
      if (polls < UNKNOWN_POLLS) return false;
      if (polls === UNKNOWN_POLLS) {
        const { name: provider } = wire;
        logger.warn({
          event: 'job.unknown_state',
          task_id: request.taskId,
          provider,
          upstream_id: id,
          state: name.slice(0, 40),
        });
      }
      return callingFor('result', async () => (await wire.hasResult?.(request, id, signal)) ?? false);
    };
  }

  private percentMeter(): (state: JobState & { state: 'running' }) => number {
    let firstSeenMs: number | undefined;
    return ({ percent, sinceMs }) => {
      if (percent !== undefined) return percent;
      firstSeenMs ??= Date.now();
      return elapsedPercent(Date.now() - (sinceMs ?? firstSeenMs), this.wire.typicalMs[this.request.kind]);
    };
  }
}
