import type { OtlpTracer, SpanCounts } from './otlp-tracer.ts';
import { activeSpan, type Attributes, currentScope, errorTypeOf, type OpenSpan, type SpanOptions } from './span.ts';
import type { TraceSettings } from './trace-settings.ts';
import { parseTraceparent, type SpanReference, toTraceparent } from './traceparent.ts';

/** How long a stop may take to send the queued spans. */
const CLOSE_MS = 2_000;

/**
 * The spans of this process: of its requests, and around the steps of its tasks. Without OTEL_EXPORTER_OTLP_ENDPOINT no
 * span is made, and the packages that make and send spans are not loaded.
 */
export class Traces {
  /** Numbers of spans by their outcome, since the process began. */
  readonly counts: SpanCounts = { sent: 0, dropped: 0, failed: 0 };
  private tracer: OtlpTracer | null = null;
  private settings: TraceSettings | null = null;

  get isOn(): boolean {
    return this.tracer !== null;
  }

  async start(settings: TraceSettings): Promise<void> {
    if (settings.otelEndpoint === null || this.tracer) return;
    const { OtlpTracer } = await import('./otlp-tracer.ts');
    this.settings = settings;
    this.tracer = new OtlpTracer(settings, settings.otelEndpoint, this.counts);
  }

  async stop(): Promise<void> {
    const { tracer } = this;
    this.tracer = null;
    await tracer?.close(CLOSE_MS);
  }

  /** Runs `work` in a span that ends when `work` ends. @param work gets null when the span is not sampled */
  async span<Result>(
    name: string,
    options: SpanOptions,
    work: (span: OpenSpan | null) => Promise<Result>,
  ): Promise<Result> {
    if (!this.tracer) return work(null);
    const span = this.open(name, options);
    if (!span) return currentScope.run(undefined, () => work(null));
    try {
      return await currentScope.run({ span, stage: null }, () => work(span));
    } catch (error) {
      span.fail(errorTypeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /** The traceparent of the current span, to store or to link; null without a sampled span. */
  link(): string | null {
    const span = this.tracer && activeSpan();
    return span ? toTraceparent(span) : null;
  }

  /** Adds attributes to the current span, if it is sampled. */
  set(attributes: Attributes): void {
    if (this.tracer) activeSpan()?.set(attributes);
  }

  /** Opens a span that does not end with a function: the caller ends it. @returns null when the span is not sampled */
  open(name: string, { parent, ...options }: SpanOptions): OpenSpan | null {
    if (!this.tracer) return null;
    if (options.isRoot) return this.tracer.open(name, null, options);
    const above = parent === undefined ? (activeSpan() ?? null) : parseTraceparent(parent);
    return above && this.tracer.open(name, above, options);
  }

  /**
   * Opens the span of a request. Only this function decides whether a request is sampled. The span continues a client's
   * trace. The client's flag decides only if the operator says so. The client's trace id never decides: a client could
   * choose one that is always sampled.
   * @param traceparent as the client sent it
   * @returns null when the request is not sampled
   */
  accept(name: string, traceparent: unknown, attributes: Attributes): OpenSpan | null {
    if (!this.tracer) return null;
    const client = parseTraceparent(traceparent);
    return this.isSampled(client) ? this.tracer.open(name, client, { kind: 'server', attributes }) : null;
  }

  /**
   * The header that continues the trace at the called provider. Empty outside of a stage, or if OTEL_PROPAGATE_TO does
   * not name the provider.
   */
  get propagated(): Record<string, string> {
    const stage = this.tracer && currentScope.getStore()?.stage;
    return stage && this.settings?.otelPropagateTo.includes(stage.provider)
      ? { traceparent: toTraceparent(stage.span) }
      : {};
  }

  private isSampled(client: SpanReference | null): boolean {
    const { otelSampler, otelSamplerArg } = this.settings!;
    if (client && otelSampler.startsWith('parentbased_')) return client.isSampled;
    if (otelSampler.endsWith('always_on')) return true;
    if (otelSampler.endsWith('always_off')) return false;
    return Math.random() < otelSamplerArg;
  }
}

/** The spans of this process, which sends one stream of spans. */
export const traces = new Traces();
