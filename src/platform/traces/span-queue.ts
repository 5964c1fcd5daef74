import { Logger } from '@nestjs/common';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { setTimeout as sleep } from 'node:timers/promises';
import { outsideOfRequests } from '../logging/request-context.ts';
import { errorTypeOf } from './span.ts';

/** Spans that wait to be sent. Further ones are dropped and counted. */
const MAX_WAITING = 2_048;
/** Spans of one export. */
const MAX_BATCH = 512;
const PAUSE_MS = 1_000;
const LOG_PAUSE_MS = 60_000;

/** What OpenTelemetry's `ExportResultCode` calls SUCCESS. */
const SUCCESS = 0;

/** Sends ended spans in the background, one export at a time. A collector that is away costs spans, never a request. */
export class SpanQueue implements SpanProcessor {
  private readonly logger = new Logger('traces');
  private waiting: ReadableSpan[] = [];
  private timer: NodeJS.Timeout | null = null;
  private exporting: Promise<void> | null = null;
  private isClosed = false;
  private nextLogMs = 0;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly counts: { sent: number; dropped: number; failed: number },
  ) {}

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.isClosed || this.waiting.length >= MAX_WAITING) {
      this.counts.dropped += 1;
      return;
    }
    this.waiting.push(span);
    this.schedule();
  }

  async forceFlush(): Promise<void> {
    while (this.waiting.length > 0 || this.exporting) await this.exportNext();
  }

  async shutdown(): Promise<void> {
    await this.exporter.shutdown();
  }

  /** Sends what waits. What is not sent in time is dropped. */
  async close(withinMs: number): Promise<void> {
    this.isClosed = true;
    if (this.timer) clearTimeout(this.timer);
    await Promise.race([this.forceFlush(), sleep(withinMs, undefined, { ref: false })]);
    this.counts.dropped += this.waiting.length;
    this.waiting = [];
    void this.shutdown().catch(() => undefined);
  }

  private schedule(): void {
    if (this.timer || this.exporting || this.isClosed) return;
    const pauseMs = this.waiting.length >= MAX_BATCH ? 0 : PAUSE_MS;
    this.timer = outsideOfRequests(() => setTimeout(() => void this.exportNext(), pauseMs).unref());
  }

  private exportNext(): Promise<void> {
    this.timer = null;
    this.exporting ??= this.export(this.waiting.splice(0, MAX_BATCH)).finally(() => {
      this.exporting = null;
      if (this.waiting.length > 0) this.schedule();
    });
    return this.exporting;
  }

  private async export(spans: ReadableSpan[]): Promise<void> {
    if (spans.length === 0) return;
    const error = await new Promise<unknown>((resolve) => {
      this.exporter.export(spans, ({ code, error: failure }) => resolve(code === SUCCESS ? null : (failure ?? code)));
    }).catch((thrown: unknown) => thrown);
    if (error === null) this.counts.sent += spans.length;
    else this.failed(spans.length, error);
  }

  /** The text of the error is left out: it may repeat the collector's answer, or the headers that hold its credential. */
  private failed(spans: number, error: unknown): void {
    this.counts.failed += spans;
    if (performance.now() < this.nextLogMs) return;
    this.nextLogMs = performance.now() + LOG_PAUSE_MS;
    this.logger.warn({ event: 'traces.export_failed', spans, code: errorTypeOf(error) });
  }
}
