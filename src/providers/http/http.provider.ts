import { join } from 'node:path';
import type { DeclaredCall } from '../../models/definition/declared-binding.ts';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import type { TaskErrorCode } from '../../tasks/record/task-error.ts';
import {
  type PreparedRequest,
  type Provider,
  ProviderError,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
  UnsupportedRequest,
} from '../contract/provider.ts';
import { mostIn, type Part, partOf, partsOf } from '../contract/parts.ts';
import { seedAt } from '../contract/seed.ts';
import { acceptedJob, isJobId } from '../jobs/accepted-job.ts';
import { withClockProgress } from '../jobs/clock-progress.ts';
import { LOOKUPS } from '../jobs/find-job.ts';
import { DONE, jobAdapter, type JobState, type JobWire, PENDING } from '../jobs/job-adapter.ts';
import { callingFor } from '../wire/call-metrics.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { hasSlot, type SlotValue } from '../templates/template.ts';
import { readyImages, slotValuesWithImages } from '../wire/image-slots.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { paidCall } from '../wire/paid-call.ts';
import { pause } from '../wire/pause.ts';
import { submitUnanswered } from '../wire/submit-failure.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { assertFillable, declaredOf, type FilledCall, fillCall, sendCall } from './http-call.ts';
import { jobFailure, submitFailure } from './http-errors.ts';
import { mayLead, outputsIn } from './http-outputs.ts';
import { textAt, valuesAt } from './json-at.ts';

const POLL_MS = 5_000;
const TYPICAL_MS = { image: 30_000, video: 180_000 };
const SUBMIT_TIMEOUT_S = 60;
const RESULT_TIMEOUT_S = 600;

/** Ids of upstreams that may be part of a path. */
const JOB_ID = /^[A-Za-z0-9._:~/-]{1,256}$/;
/** Statuses of a lookup that say nothing about the job. */
const isTemporary = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;
/** Stands for the id of a job that does not exist yet, while a call is only checked. */
const ANY_JOB = 'job';

interface HttpPlan {
  count: number;
  parts: Part[];
  seeds?: number[];
  approximations: Approximation[];
}

function planOf(request: ProviderRequest): HttpPlan {
  const { submit, poll, cancel, lookup, max_n } = declaredOf(request);
  if (!submit) throw new UnsupportedRequest('model', 'The binding has no submit.');
  const parts = partsOf(request, max_n ?? mostIn([submit.path, submit.json, submit.form]));
  // Refuses a value that the binding does not map or that a call cannot contain. It does so for later calls too, before
  // anything is paid.
  for (const call of [submit, poll, cancel, lookup]) if (call) assertFillable(call, valuesOf(request, ANY_JOB));
  const sendsSeed = hasSlot([submit.path, submit.headers, submit.json, submit.form], 'seed');
  const seeds = sendsSeed ? { seeds: parts.map(({ first }) => seedAt(request, first)) } : {};
  return { count: parts.length, parts, ...seeds, approximations: [] };
}

const timeoutMs = (request: ProviderRequest, byDefaultS: number): number =>
  (declaredOf(request).timeout_s ?? byDefaultS) * 1000;

async function submitCalls(
  given: ProviderRequest,
  { parts }: HttpPlan,
  run: Pick<Run, 'linkTo'>,
): Promise<FilledCall[]> {
  const submit: DeclaredCall = { method: 'POST', ...declaredOf(given).submit! };
  const request = await readyImages(given, [submit.path, submit.headers, submit.json, submit.form], run);
  return Promise.all(
    parts.map((part) => {
      const own = partOf(request, part);
      return fillCall(own, submit, slotValuesWithImages(own, part.first));
    }),
  );
}

function valuesOf(request: ProviderRequest, jobId: string): SlotValue {
  const others = slotValuesWithImages(request);
  return (slot) => (slot.name === 'job_id' ? jobId : others(slot));
}

/** Sends a call about an accepted job. */
async function callOf(request: ProviderRequest, call: DeclaredCall, id: string, signal: AbortSignal) {
  return sendCall(request, await fillCall(request, call, valuesOf(request, id)), { signal });
}

const wire: JobWire<HttpPlan, FilledCall[]> = {
  name: 'http',
  takes: ['n'], // if one call cannot make all pictures, several calls are sent
  pollMs: { image: POLL_MS, video: POLL_MS },
  typicalMs: TYPICAL_MS,
  plan: planOf,
  prepareBody: submitCalls,
  create: (request, calls, index) =>
    acceptedJob({
      provider: 'http',
      call: sendCall(request, calls[index]!, { timeoutMs: timeoutMs(request, SUBMIT_TIMEOUT_S) }),
      idOf: ({ json }) => jobIdIn(json, declaredOf(request).submit?.id),
      requestIdOf: ({ headers }) => headers['x-request-id'],
      refused: (reply) => submitFailure(request, reply),
    }),
  read: (request, id, signal) => callOf(request, declaredOf(request).poll!, id, signal),
  stateOf,
  outputs: (request, _id, reply) => outputsIn(request, reply),
  mayLead,
  cancel: async (request, id, signal) => {
    const { cancel } = declaredOf(request);
    return cancel ? callOf(request, { method: 'POST', ...cancel }, id, signal) : NOTHING_TO_CALL;
  },
  neverRan: async (request, _id, _signal, { json }) => {
    const { cancel, poll } = declaredOf(request);
    return cancel?.cancelled?.includes(textAt(json, poll?.status) ?? '') ?? false;
  },
};

/** The reply when the declaration has no cancel call: the job goes on, and its result is not used. */
const NOTHING_TO_CALL: UpstreamReply = { status: 404, headers: {}, json: undefined, text: '' };

function jobIdIn(json: unknown, path: string | undefined): string | undefined {
  const id = textAt(json, path);
  return id !== undefined && JOB_ID.test(id) && isJobId(id) ? id : undefined;
}

function stateOf(request: ProviderRequest, reply: UpstreamReply): JobState {
  const { poll } = declaredOf(request);
  const status = textAt(reply.json, poll!.status) ?? '';
  if (poll!.done?.includes(status)) return DONE;
  if (poll!.failed?.includes(status)) throw jobFailure(request, reply);
  const progress = Number(textAt(reply.json, poll!.progress));
  if (Number.isNaN(progress)) return poll!.progress === undefined ? { state: 'running' } : PENDING;
  // A progress below 1 is a fraction. A progress of 1 means 1 %: for the whole, the status would be one of `done`.
  return { state: 'running', percent: progress > 0 && progress < 1 ? progress * 100 : progress };
}

/**
 * Looks the job up once.
 * @returns the id of the job; null when the answer has no job
 * @throws ProviderError provider_unavailable when the server cannot answer now, else provider_outcome_unknown; the
 *   reason of the signal when it is aborted
 */
async function find(request: ProviderRequest, _sinceMs: number, signal: AbortSignal): Promise<string | null> {
  const { lookup } = declaredOf(request);
  const filled = await fillCall(request, lookup!, slotValuesWithImages(request));
  const reply = await sendCall(request, filled, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw lookupFailure(request, 'provider_unavailable', (error as Error).message);
  });
  const { status, json, text } = reply;
  const id = jobIdIn(json, lookup!.id);
  if (id !== undefined) return id;
  // A text of a proxy, or an id that no path can contain, does not mean that there is no job.
  if (status < 300 && typeof json === 'object' && valuesAt(json, lookup!.id!).length === 0) return null;
  throw lookupFailure(request, isTemporary(status) ? 'provider_unavailable' : 'provider_outcome_unknown', text);
}

/**
 * Looks the job up after a crash, several times: the intent may be seconds old, and the list of the server may lag
 * behind.
 * @returns the id of the job; null when it certainly does not exist
 * @throws ProviderError provider_outcome_unknown when it may exist
 */
async function findAfterCrash(request: ProviderRequest, signal: AbortSignal): Promise<string | null> {
  for (let lookups = 1; ; lookups++) {
    const id = await callingFor('find', () => find(request, 0, signal));
    if (id !== null) return id;
    if (lookups === LOOKUPS) break;
    await pause(request.upstream.pollIntervalMs ?? POLL_MS, signal);
  }
  if (isAbsenceCertain(request)) return null;
  throw lookupFailure(request, 'provider_outcome_unknown', `not found ${LOOKUPS} times`);
}

const isAbsenceCertain = (request: ProviderRequest): boolean => declaredOf(request).lookup?.certain === true;

function lookupFailure({ upstream }: ProviderRequest, code: TaskErrorCode, message: string): ProviderError {
  return new ProviderError(code, {
    billing: 'unknown',
    cause: operatorCause('http', upstream.apiKey, { code: 'lookup', message }),
  });
}

const jobs = jobAdapter(wire);
const jobsWithLookup: typeof jobs = {
  ...jobAdapter({ ...wire, find, isAbsenceCertain }),
  find: (request, signal) => findAfterCrash(paced(request), signal),
};

/** The request with the poll interval of its binding, unless the operator has set one for all bindings. */
function paced(request: ProviderRequest): ProviderRequest {
  const { every_s } = declaredOf(request).poll ?? {};
  if (every_s === undefined || request.upstream.pollIntervalMs !== null) return request;
  const upstream = Object.create(request.upstream, { pollIntervalMs: { value: every_s * 1000, enumerable: true } });
  return { ...request, upstream };
}

/**
 * An adapter for servers whose calls a declaration writes out: submit, poll, cancel, lookup. It polls in the interval
 * of the binding.
 */
const ofJobs = (adapter: typeof jobs): Provider => ({
  ...adapter,
  prepare: (request) => adapter.prepare(paced(request)),
  cancel: (request, id, signal) => adapter.cancel(paced(request), id, signal),
});

export const httpJobs = ofJobs(jobs);
export const httpJobsWithLookup = ofJobs(jobsWithLookup);

/** The adapter for declarations without `poll`: the answer to `submit` is the result. */
export const httpCalls: Provider = {
  name: 'http',
  takes: ['n'],
  synchronousKinds: ['image', 'video'],
  prepare(request: ProviderRequest): PreparedRequest {
    const plan = planOf(request);
    return { approximations: [], calls: plan.count, generate: (run) => generate(request, plan, run) };
  },
};

async function generate(request: ProviderRequest, plan: HttpPlan, run: Run): Promise<ProviderOutput[]> {
  run.signal.throwIfAborted();
  const calls = await submitCalls(request, plan, run);
  await run.submitting();
  const send = async (call: FilledCall): Promise<string[]> => {
    const options = { timeoutMs: timeoutMs(request, RESULT_TIMEOUT_S), signal: run.signal };
    const reply = await paidCall(run, () => sendCall(request, call, options)).catch((error: unknown) => {
      run.signal.throwIfAborted();
      throw submitUnanswered('http', error);
    });
    if (reply.status >= 300) throw submitFailure(request, reply);
    return outputsIn(request, reply);
  };
  const answers = await withClockProgress(run, TYPICAL_MS[request.kind], () => Promise.all(calls.map(send)));
  const wanted = request.kind === 'image' ? (request.input.n ?? 1) : 1;
  const urls = answers.flat();
  if (urls.length < wanted) {
    const message = `${urls.length} outputs instead of ${wanted}`;
    throw new ProviderError('internal_error', { cause: operatorCause('http', request.upstream.apiKey, { message }) });
  }
  if (plan.seeds) run.seeds(answers.flatMap((each, at) => each.map(() => plan.seeds![at]!)));
  return Promise.all(urls.slice(0, wanted).map((url, at) => fetched(request, url, join(run.scratchDir, `${at}`), run)));
}

async function fetched(request: ProviderRequest, url: string, path: string, run: Run): Promise<ProviderOutput> {
  const { kind, upstream } = request;
  const retryMs = upstream.pollIntervalMs ?? POLL_MS;
  const bounds = { maxBytes: MAX_RESULT_BYTES[kind], baseUrl: upstream.baseUrl, retryMs, signal: run.signal };
  return download({ provider: 'http', url, path, mayLead: (to) => mayLead(request, to), ...bounds });
}
