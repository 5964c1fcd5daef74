import type { MediaKind } from '../../models/definition/media-kind.ts';
import { ProviderError } from '../../providers/contract/provider.ts';
import { submitted, waitedForPlace } from '../../providers/provider-metrics.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import type { Submission } from '../../tasks/record/submission.ts';
import { type Stage, stageEnded } from '../../tasks/queue/task-metrics.ts';
import { currentScope, errorTypeOf } from '../../platform/observe/traces/span.ts';
import { toTraceparent } from '../../platform/observe/traces/traceparent.ts';
import { traces } from '../../platform/observe/traces/traces.ts';

type StageName = 'submit' | 'upstream' | 'download';

/** The spans of a run at its provider. Each ends when the next one begins. */
class StageSpans {
  private readonly scope = currentScope.getStore();
  private name: StageName | null = null;

  constructor(private readonly provider: string) {}

  begin(name: StageName): void {
    if (!this.scope || this.name === name) return;
    this.end();
    const parent = toTraceparent(this.scope.span);
    const attributes = { 'darkroom.provider': this.provider };
    const span = traces.open(name, { kind: 'client', parent, attributes });
    this.scope.stage = span && { span, provider: this.provider, polls: 0 };
    this.name = name;
  }

  /** @param error why the stage ended early */
  end(error?: unknown): void {
    const stage = this.scope?.stage;
    if (!this.scope || !stage) return;
    if (this.name === 'upstream' && stage.polls > 0) stage.span.set({ 'darkroom.polls': stage.polls });
    if (error !== undefined) stage.span.fail(errorTypeOf(error));
    stage.span.end();
    this.scope.stage = null;
    this.name = null;
  }
}

/**
 * Measures and traces one run at its provider: `submit` until a job is accepted, `upstream` until it is done, then
 * `download`.
 */
export class RunStages {
  private sinceMs = performance.now();
  private isDone = false;
  /**
   * The provider of this run's paid call, until the outcome of the call is known; null before the call and afterwards.
   */
  private provider: string | null = null;
  /**
   * When the task was given back to wait, in milliseconds of the database's clock; null unless this was the last event
   * of the task.
   */
  private readonly heldAtMs: number | null;
  private readonly spans: StageSpans;

  constructor(
    private readonly task: Pick<ClaimedTask, 'kind' | 'timeline'>,
    private readonly nowMs: () => number,
    provider: string,
  ) {
    this.spans = new StageSpans(provider);
    const last = task.timeline?.at(-1);
    this.heldAtMs = last?.[1] === 'held' ? last[0] : null;
  }

  /** Call before the paid call is sent. */
  submitting({ provider, concurrency }: Submission): void {
    this.spans.begin('submit');
    this.provider = provider;
    this.sinceMs = performance.now();
    if (concurrency === null) return;
    waitedForPlace(provider, this.heldAtMs === null ? 0 : (this.nowMs() - this.heldAtMs) / 1000);
  }

  /** Call when the run waits for a provider that costs nothing, or for a job that an earlier run has submitted. */
  waits(): void {
    this.spans.begin('upstream');
  }

  /** Call for each accepted job. In a task with several jobs, the wait is measured from the last one. */
  accepted(): void {
    this.spans.begin('upstream');
    this.spent('accepted');
    this.end('submit');
    this.isDone = false;
  }

  /** Call when the upstream has made what was asked for. Only the first call after an accepted job counts. */
  done(): void {
    this.spans.begin('download');
    this.upstreamDone();
  }

  /** Call when the outputs have arrived. A provider that sends them in its answer has no download. */
  received(): void {
    this.spent('accepted');
    if (this.isDone) this.end('download');
    else this.upstreamDone();
    this.spans.end();
  }

  failed(error: unknown): void {
    const billing = error instanceof ProviderError ? error.billing : 'unknown';
    this.spent(billing === 'none' ? 'nothing' : billing === 'charged' ? 'accepted' : 'unknown');
    this.spans.end(error);
  }

  private upstreamDone(): void {
    if (!this.isDone) this.end('upstream');
    this.isDone = true;
  }

  private spent(what: 'nothing' | 'accepted' | 'unknown'): void {
    if (this.provider !== null) submitted(this.provider, what);
    this.provider = null;
  }

  private end(stage: Stage): void {
    stageEnded(stage, this.task.kind, this.sinceMs);
    this.sinceMs = performance.now();
  }
}

export async function inStage<Result>(stage: Stage, kind: MediaKind, run: () => Promise<Result>): Promise<Result> {
  const begunMs = performance.now();
  const result = await run();
  stageEnded(stage, kind, begunMs);
  return result;
}
