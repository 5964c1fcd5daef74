import { Logger } from '@nestjs/common';
import {
  type Attributes as OtelAttributes,
  type AttributeValue,
  createNoopMeter,
  type Link,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import { setTimeout as sleep } from 'node:timers/promises';
import { outsideOfRequests } from '../logging/request-context.ts';
import { PROCESS_ID } from '../../config/process-id.ts';
import { VERSION } from '../../config/version.ts';
import type { Attributes, OpenSpan, SpanOptions } from './span.ts';
import { parseTraceparent, type SpanReference } from './traceparent.ts';
import type { TraceSettings } from './trace-settings.ts';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };

/** The most milliseconds that one export takes. */
const EXPORT_TIMEOUT_MS = 10_000;
/** How long an ended span waits for others, to be exported with them. */
const EXPORT_DELAY_MS = 1_000;
/** Maximum number of spans that wait. Further ones are dropped and counted. */
const MAX_WAITING = 2_048;
const LOG_PAUSE_MS = 60_000;

/** Attributes are codes, ids and numbers: a text of more than 256 characters is a mistake. */
const LIMITS = { eventCountLimit: 32, linkCountLimit: 32, attributeValueLengthLimit: 256 };

/** Numbers of spans by their outcome. */
export interface SpanCounts {
  sent: number;
  dropped: number;
  failed: number;
}

/** Makes random ids. If `next` is set, the next span gets this id instead. */
class SpanIds extends RandomIdGenerator {
  next: string | undefined;

  override generateSpanId(): string {
    const given = this.next;
    this.next = undefined;
    return given ?? super.generateSpanId();
  }
}

/**
 * Makes spans with OpenTelemetry's SDK and sends them with OTLP over HTTP. Only `Traces` imports this file, when traces
 * are on.
 */
export class OtlpTracer {
  private readonly ids = new SpanIds();
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  constructor(settings: TraceSettings, endpoint: string, counts: SpanCounts) {
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
      headers: settings.otelHeaders,
      timeoutMillis: EXPORT_TIMEOUT_MS,
    });
    const processor = new BatchSpanProcessor({
      exporter,
      scheduledDelayMillis: EXPORT_DELAY_MS,
      exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      maxQueueSize: MAX_WAITING,
      selfObsMeterProvider: { getMeter: () => meterOf(counts) },
    });
    this.provider = new TracerProvider({
      resource: defaultResource().merge(
        resourceFromAttributes({
          ...settings.otelResourceAttributes,
          'service.name': settings.otelServiceName,
          'service.version': VERSION,
          'service.instance.id': PROCESS_ID,
          'darkroom.role': settings.role,
        }),
      ),
      sampler: new AlwaysOnSampler(), // `Traces` asks only for spans that it has decided to sample
      spanLimits: LIMITS,
      idGenerator: this.ids,
      spanProcessors: [processor],
    });
    this.tracer = this.provider.getTracer('darkroom', VERSION);
  }

  open(
    name: string,
    parent: Pick<SpanReference, 'traceId' | 'spanId'> | null,
    { kind, links = [], attributes = {}, spanId }: SpanOptions,
  ): OpenSpan {
    const above = parent ? trace.setSpanContext(ROOT_CONTEXT, contextOf(parent)) : ROOT_CONTEXT;
    this.ids.next = spanId;
    const options = {
      kind: kind ? KINDS[kind] : SpanKind.INTERNAL,
      attributes: known(attributes),
      links: links.slice(0, LIMITS.linkCountLimit).flatMap(linkTo),
    };
    return new SampledSpan(this.tracer.startSpan(name, options, above));
  }

  /** Sends the waiting spans. Those that are not sent in time are lost. */
  async close(withinMs: number): Promise<void> {
    const sent = this.provider.shutdown().catch(() => undefined); // the meter has logged the failure
    await Promise.race([sent, sleep(withinMs, undefined, { ref: false })]);
  }
}

/**
 * A meter that learns the outcome of spans from the SDK's processor. Texts of errors are left out: they may repeat the
 * collector's answer, or the headers with the credential for the collector.
 */
function meterOf(counts: SpanCounts): Meter {
  const logger = new Logger('traces');
  let nextLogMs = 0;
  const add = (spans: number, attributes: OtelAttributes = {}): void => {
    const code = attributes['error.type'];
    if (code === undefined) counts.sent += spans;
    else if (code === 'queue_full') counts.dropped += spans;
    else {
      counts.failed += spans;
      if (performance.now() < nextLogMs) return;
      nextLogMs = performance.now() + LOG_PAUSE_MS;
      outsideOfRequests(() => logger.warn({ event: 'traces.export_failed', spans, code }));
    }
  };
  return Object.create(createNoopMeter(), { createCounter: { value: () => ({ add }) } }) as Meter;
}

class SampledSpan implements OpenSpan {
  readonly traceId: string;
  readonly spanId: string;

  constructor(private readonly span: Span) {
    ({ traceId: this.traceId, spanId: this.spanId } = span.spanContext());
  }

  set(attributes: Attributes): void {
    this.span.setAttributes(known(attributes));
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  event(name: string, attributes: Attributes): void {
    this.span.addEvent(name, known(attributes));
  }

  fail(type: string): void {
    this.span.setAttribute('error.type', type);
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.span.end();
  }
}

const contextOf = ({ traceId, spanId }: Pick<SpanReference, 'traceId' | 'spanId'>) => ({
  traceId,
  spanId,
  traceFlags: TraceFlags.SAMPLED,
  isRemote: true,
});

function linkTo(traceparent: string): Link[] {
  const reference = parseTraceparent(traceparent);
  return reference ? [{ context: contextOf(reference) }] : [];
}

const known = (attributes: Attributes): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(attributes).filter(
      (entry): entry is [string, string | number | boolean] => entry[1] !== null && entry[1] !== undefined,
    ),
  );
