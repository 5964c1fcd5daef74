import { ERRORS } from '../../errors/catalog.ts';
import { findModel } from '../../models/catalog.ts';
import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Model } from '../../models/definition/model.ts';
import type { TaskErrorCode } from '../../tasks/record/task-error.ts';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import type { Tokens } from '../../tasks/record/task-usage.ts';

/**
 * A reference image that the worker has fetched and checked: a still JPEG, PNG or WebP. The images of one request may
 * have 320 MB together. So an image stays in its file, and adapters read it while they send it.
 */
export interface InputImage {
  /** The path of the image file, which exists until `Run.releaseImages` or the end of the run. */
  path: string;
  /** Bytes. */
  size: number;
  contentType: 'image/jpeg' | 'image/png' | 'image/webp';
  /** Pixels after the EXIF orientation is applied. */
  width: number;
  height: number;
  /** The link from `Run.linkTo`, if the upstream is to fetch the image. */
  url?: string;
}

export type ImageFormat = 'png' | 'jpeg' | 'webp';

/** The parameters of a generation with every default filled in, under their public API names. */
export interface ResolvedInput {
  prompt: string;
  aspect_ratio: string;
  resolution: string;
  /** Images only. */
  n?: number;
  reference_images?: string[];
  quality?: string;
  output_format?: ImageFormat;
  /** Percent. */
  output_compression?: number;
  /** Videos only; seconds. */
  duration?: number;
  reference_mode?: string;
  first_frame_image_url?: string;
  last_frame_image_url?: string;
  reference_image_url?: string;
  generate_audio?: boolean;
  /** Exact pixels, such as `1024x768`. A request with a size has neither aspect_ratio nor resolution. */
  size?: string;
  negative_prompt?: string;
  seed?: number;
  mask?: string;
  strength?: number;
  background?: string;
}

/** The worker converts the outputs of every provider, so adapters do not get these parameters. */
export const OF_WORKER: readonly string[] = ['output_format', 'output_compression'] satisfies (keyof ResolvedInput)[];

/** The address, key and upstream model of one binding, with its policies. */
export interface Upstream {
  /** The upstream's own name of the model. */
  model: string;
  /** Without a trailing slash. Includes `/v1` or `/api/v3` if all paths of the upstream begin with it. */
  baseUrl: string;
  readonly apiKey: string | null; // a getter, because a SIGHUP may replace the key
  /**
   * `nearest`: a duration that the model cannot make is rounded to one that it can make, and the task records the
   * change.
   */
  durationPolicy: 'exact' | 'nearest';
  /** Milliseconds between polls; null: the adapter's own interval. */
  pollIntervalMs: number | null;
  /** The binding as written in the declaration of the model. Absent for any other binding. */
  declared?: DeclaredBinding;
}

/** The parts of a model that a provider needs. */
export type Definition = Pick<Model, 'sizes' | 'guidance' | 'parameters' | 'workflows'>;

export interface ProviderRequest {
  /**
   * Seeds and ids of jobs derive from it, so that a job can be found after a crash. Templates may send it as
   * `{{task_id}}`.
   */
  taskId: string;
  /** The task that this one repeats or varies; missing or null: none. */
  parentTaskId?: string | null;
  /** The id of the model in this service. */
  model: string;
  /** The version of the model that the task runs under; missing: the version that is loaded now. */
  definition?: Definition;
  kind: MediaKind;
  input: ResolvedInput;
  /** The fetched images of the URLs in `input`, in the same order. */
  images: {
    references: InputImage[];
    firstFrame: InputImage | null;
    lastFrame?: InputImage | null;
    mask?: InputImage | null;
  };
  upstream: Upstream;
}

/** The parts of the model that a request is for; undefined if the model is gone. */
export const definitionOf = ({ definition, model }: ProviderRequest): Definition | undefined =>
  definition ?? findModel(model);

/**
 * Why a run was stopped. `ended`: the task has been ended by someone else, for example by a cancel. After `deadline`,
 * the run itself records the outcome. After any other reason, it records none.
 */
export type StopReason = 'ended' | 'deadline' | 'lease_lost' | 'shutdown';

const RESULT_UNWANTED: readonly unknown[] = ['ended', 'deadline'] satisfies StopReason[];

/**
 * Whether the upstream job should be cancelled after a stop for this reason, because no process will use its result.
 * After any other reason the next claim of the task continues the job.
 */
export const isResultUnwanted = (reason: unknown): boolean => RESULT_UNWANTED.includes(reason);

/**
 * The task that a provider works on, as the provider sees it. If a method records something and returns a promise, the
 * promise resolves once the database has committed the record.
 */
export interface Run {
  /** Set when a job of an earlier attempt was accepted: poll that job, and submit no other. */
  readonly upstreamId: string | null;
  /**
   * Whether an earlier attempt recorded its intent to submit. If so, and `upstreamId` is null, the outcome of its call
   * is unknown.
   */
  readonly submittedBefore: boolean;
  /** A directory for large files of this run only. It is deleted after the run. */
  readonly scratchDir: string;
  /** Aborts on cancel, deadline, shutdown and a lost lease; `generate` must then settle within 1 s. */
  readonly signal: AbortSignal;
  /**
   * The most early stages of the picture that are wanted, 0 to 3. It is 0 unless the task makes exactly one picture.
   */
  readonly partialImages: number;
  /**
   * Reports the progress in percent, 0 to 100. Call it as often as you like: writes are combined, and a value lower
   * than before is ignored.
   */
  progress(percent: number): void;
  /** Records the tokens that the upstream reports for one answer. The tokens of several answers are added up. */
  tokens(reported: Tokens): void;
  /**
   * Stores an early stage of the picture; `image` is the content of an image file. Call it in the order of the stages.
   * It returns at once.
   */
  partialImage(image: Buffer): void;
  /**
   * Checks that the run still holds its task. `paidCall` makes this check, because the process may have been frozen
   * since the intent was recorded.
   * @throws LeaseLost
   */
  assertHeld(): Promise<void>;
  /** Records the intent to make a paid call. Await it before the call. @throws LeaseLost */
  submitting(): Promise<void>;
  /** Records one more paid call, which `submitting` has not announced. Await it before the call. @throws LeaseLost */
  callingAgain(): Promise<void>;
  /**
   * Records that the upstream made fewer pictures than were requested. The pictures are kept, and the task records
   * their number.
   * @param unknown the number of paid calls that made no picture and may have been charged
   */
  fewer(made: number, unknown: number): void;
  /** Records the seed that was sent for each output, in the order of the outputs. Call it only if seeds were sent. */
  seeds(ofOutputs: readonly number[]): void;
  /**
   * Records the id of the job. Await it as soon as the upstream has returned the id, before the first poll.
   * @throws LeaseLost
   */
  submitted(upstreamId: string, requestId?: string | null): Promise<void>;
  /**
   * Call this before a job that the provider has lost, or that it does not know after a call without an answer, is
   * created again. Each call uses up one attempt of the task.
   * @returns whether the task had an attempt left; if not, create no job
   * @throws LeaseLost
   */
  resubmitting(): Promise<boolean>;
  /**
   * Stores an image and makes a link of this service to it. Whoever has the link can read the image until an hour after
   * the task's deadline. The upstream never gets the client's own URL, because that may lead elsewhere by the time it
   * is fetched.
   * @throws ProviderError, not billed, when the image would exceed a quota of the API key
   */
  linkTo(image: InputImage): Promise<string>;
  /**
   * Deletes the files of the request's images, because the run may poll for an hour, and other runs need the disk. Call
   * it once every job is accepted, unless a lost job would be created again from the files.
   */
  releaseImages(): Promise<void>;
  /**
   * Runs `work`, which only waits for the upstream: polls and pauses. Meanwhile the run takes no slot of its worker.
   * Two calls of `polling` in one run must not overlap.
   */
  polling<Result>(work: () => Promise<Result>): Promise<Result>;
}

/**
 * One image or video: its bytes or, if it may be large, a file in the run's scratch directory. `thumbnail` is the path
 * of the first frame as WebP, for a video whose provider makes one.
 */
export type ProviderOutput = Buffer | { path: string; thumbnail?: string };

/** A request that a provider has checked and translated. Nothing has been sent yet. */
export interface PreparedRequest {
  /** Parameters that the provider can only approximate. The task records them. */
  approximations: Approximation[];
  /** The number of paid calls that one `run.submitting()` announces; missing: 1. */
  calls?: number;
  /**
   * Runs the generation to its end. The order of calls: `run.submitting()`, the paid call, `run.submitted(id)` if the
   * upstream returns a job id, then the polls. If `run.upstreamId` is set, the generation starts with the polls.
   * @returns `input.n` images in order, or fewer after `run.fewer`; or one video
   * @throws ProviderError for every failure that has a public code; any other error counts as internal_error
   * @throws the signal's reason once it has aborted
   */
  generate(run: Run): Promise<ProviderOutput[]>;
}

/** An adapter for one upstream API. It keeps no state of a task, so any process can continue the task. */
export interface Provider {
  readonly name: string;
  /**
   * Every input parameter that the adapter uses for at least one of its models. `prepareRequest` refuses any other
   * parameter, unless it is a hint or the binding handles it.
   */
  readonly takes: readonly (keyof ResolvedInput)[];
  /** The adapter also takes the parameters that only one model has. Their names begin with `x_`. */
  readonly takesOwn?: true;
  /**
   * Kinds that the adapter makes within one call. After a crash there is no job to find, so the call is repeated,
   * unless the binding forbids that.
   */
  readonly synchronousKinds?: readonly MediaKind[];
  /**
   * The adapter makes no paid call. The operator may still give it a price, to rehearse costs. The worker then records
   * each run as one paid call.
   */
  readonly isFree?: true;
  /**
   * Checks a request and translates it into the upstream's terms. Sends nothing. Call it through `prepareRequest`.
   * @throws UnsupportedRequest when the provider cannot express a value: the next binding is tried
   */
  prepare(request: ProviderRequest): PreparedRequest;
  /**
   * After a crash between the paid call and its answer, finds the job by the id of the task, if the upstream allows
   * that.
   * @param sinceMs unix milliseconds at which the intent to submit was recorded: the job is not older
   * @returns the upstream's id of the job; null when the job certainly does not exist, so nothing was billed
   * @throws ProviderError provider_unavailable when the upstream cannot be reached: a later lookup may find the job
   */
  find?(request: ProviderRequest, signal: AbortSignal, sinceMs: number): Promise<string | null>;
  /**
   * Tries to cancel the job after a user's cancel or the deadline. @throws when the upstream cannot be reached
   * @returns true when the upstream has confirmed that the job was cancelled before it ran, so that it costs nothing
   */
  cancel?(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<true | void>;
}

/** The provider cannot express a value of the request. Nothing was sent. */
export class UnsupportedRequest extends Error {
  constructor(
    readonly param: string,
    message: string,
  ) {
    super(message);
    this.name = 'UnsupportedRequest';
  }
}

/**
 * What a failed call may have cost. `none`: certainly nothing, so the call may be repeated or the next binding tried.
 * `unknown`: the upstream may have accepted the call, so it must not be repeated. `charged`: the upstream accepted the
 * job, and the job failed there.
 */
export type Billing = 'none' | 'unknown' | 'charged';

interface ProviderErrorDetails {
  /** Shown to the client; never text of the upstream. */
  message?: string;
  param?: string;
  /** What the failed call may have cost. Missing: `charged`. */
  billing?: Billing;
  /** Milliseconds to wait, from Retry-After or its equivalent. */
  retryAfterMs?: number;
  /** For the operator's log only: the upstream's status, code and request id. */
  cause?: unknown;
}

/** A failure of a generation, with a code and a message for the client. The cause is for the operator's log only. */
export class ProviderError extends Error {
  readonly param: string | undefined;
  readonly billing: Billing;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: TaskErrorCode,
    details: ProviderErrorDetails = {},
  ) {
    super(details.message ?? ERRORS[code].message, { cause: details.cause });
    this.name = 'ProviderError';
    this.param = details.param;
    this.billing = details.billing ?? 'charged';
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * Changes the failure of one call for a generation whose earlier jobs or calls were accepted. The accepted ones are
 * billed, so `none` becomes `charged`.
 */
export function afterAccepted({ code, message, param, cause, billing }: ProviderError): ProviderError {
  return new ProviderError(code, {
    message,
    billing: billing === 'none' ? 'charged' : billing,
    cause,
    ...(param === undefined ? {} : { param }),
  });
}
