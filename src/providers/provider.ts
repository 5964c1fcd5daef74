import type { MediaKind } from '../models/media-kind.ts';
import { TASK_ERRORS, type TaskErrorCode } from '../tasks/task-error.ts';
import type { Approximation } from '../tasks/task.entity.ts';

/** An image the client referred to, fetched and checked by us (JPEG, PNG or WebP, still). */
export interface InputImage {
  bytes: Buffer;
  contentType: 'image/jpeg' | 'image/png' | 'image/webp';
  /** Pixels, as shown (EXIF orientation applied). */
  width: number;
  height: number;
}

/** The parameters of a generation with every default filled in, in the names of the public API. */
export interface ResolvedInput {
  prompt: string;
  aspect_ratio: string;
  resolution: string;
  /** Images only. */
  n?: number;
  reference_images?: string[];
  /** Videos only; seconds. */
  duration?: number;
  reference_mode?: string;
  first_frame_image_url?: string;
  reference_image_url?: string;
}

/** Where and as whom a provider is to be called for a model; one line of the PROVIDERS file. */
export interface Upstream {
  /** The provider's own name of the model. */
  model: string;
  /** Without a trailing slash; includes `/v1` or `/api/v3` where the provider's paths do. */
  baseUrl: string;
  apiKey: string | null;
  /** `nearest`: a duration the model cannot do is rounded to one it can, and noted in the task. */
  durationPolicy: 'exact' | 'nearest';
  /** Milliseconds between polls; null: the adapter's own. */
  pollIntervalMs: number | null;
}

export interface ProviderRequest {
  /** Serves as idempotency token where the upstream knows one. */
  taskId: string;
  /** Our logical model id. */
  model: string;
  kind: 'image' | 'video';
  input: ResolvedInput;
  /** The fetched counterparts of the URLs in `input`, in their order. */
  images: { references: InputImage[]; firstFrame: InputImage | null };
  upstream: Upstream;
}

/** What a run may tell the record, and what it needs to know of it. Each promise is kept once the record is committed. */
export interface Run {
  /** Known when an earlier attempt got as far as being accepted: go on polling it, do not submit again. */
  readonly upstreamId: string | null;
  /** True when an earlier attempt committed its intent to submit: the fate of that call is unknown. */
  readonly submittedBefore: boolean;
  /** A directory of this run alone for large files; removed afterwards. */
  readonly scratchDir: string;
  /** Aborts on cancel, deadline, shutdown and a lost lease; `generate` must then settle within 1 s. */
  readonly signal: AbortSignal;
  /** Percent, 0 to 100. Call as often as you like: it is coalesced, and a lower value than before is ignored. */
  progress(percent: number): void;
  /** Await before a call that costs money. @throws LeaseLost */
  submitting(): Promise<void>;
  /** Await as soon as the upstream has named its job, before the first poll. @throws LeaseLost */
  submitted(upstreamId: string, requestId?: string | null): Promise<void>;
}

/** One picture or video: its bytes, or a file in the run's scratch directory where it may be large. */
export type ProviderOutput = Buffer | { path: string };

/** A request that a provider has checked and translated, before anything was sent. */
export interface PreparedRequest {
  /** Parameters the provider can only come near to; recorded in the task. */
  approximations: Approximation[];
  /**
   * Runs the generation to its end. The order of calls: `run.submitting()`, the paid call, `run.submitted(id)` where the
   * upstream names a job, then the polls. With `run.upstreamId` known it goes straight to the polls.
   * @returns `input.n` pictures, or one video, in order
   * @throws ProviderError for every failure that has a public code; anything else counts as internal_error
   * @throws the signal's reason once it has aborted
   */
  generate(run: Run): Promise<ProviderOutput[]>;
}

/** Who makes the content. One implementation a file in `providers/`; without state, so that any process may go on. */
export interface Provider {
  readonly name: string;
  /**
   * What it makes within one call, so that there is no job to ask for after a crash: the call is made again then, within the
   * task's attempts.
   */
  readonly synchronousKinds?: readonly MediaKind[];
  /**
   * Looks at a binding when the service starts: is the upstream's model name one that can work?
   * @throws Error for the operator
   */
  check?(upstreamModel: string, modelId: string): void;
  /**
   * Checks a request and translates it into the provider's own terms. Sends nothing.
   * @throws UnsupportedRequest when the provider cannot express a value: the next binding is tried
   */
  prepare(request: ProviderRequest): PreparedRequest;
  /**
   * After a crash between the paid call and its answer: finds the job by our task id, where the upstream can.
   * @returns the upstream's id; null when there surely is none, so that nothing was spent
   */
  find?(request: ProviderRequest, signal: AbortSignal): Promise<string | null>;
  /** Tells the upstream, best-effort, that nobody wants the job any more: a user's cancel or the deadline. */
  cancel?(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<void>;
}

/** This provider cannot express a value of the request. Nothing was sent. */
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
 * What a failed call left behind at the upstream: surely `nothing`, so that it may be repeated or another be asked;
 * `unknown`, so that it must not; or a job that was `accepted` and failed there.
 */
export type Billing = 'none' | 'unknown' | 'charged';

interface ProviderErrorDetails {
  /** For the client; never the upstream's words. */
  message?: string;
  /** The input field at fault. */
  param?: string;
  /** `accepted` when absent. */
  billing?: Billing;
  /** How long the upstream asks us to wait, from Retry-After or its like; milliseconds. */
  retryAfterMs?: number;
  /** For the operator's log only: the upstream's status, code and request id. */
  cause?: unknown;
}

/** A generation failed for a reason a client may know. The cause is for the operator's log only. */
export class ProviderError extends Error {
  readonly param: string | undefined;
  readonly billing: Billing;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: TaskErrorCode,
    details: ProviderErrorDetails = {},
  ) {
    super(details.message ?? TASK_ERRORS[code].message, { cause: details.cause });
    this.name = 'ProviderError';
    this.param = details.param;
    this.billing = details.billing ?? 'charged';
    this.retryAfterMs = details.retryAfterMs;
  }
}
