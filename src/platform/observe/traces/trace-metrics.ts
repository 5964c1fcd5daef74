import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../measuring/metrics.ts';
import { traces } from './traces.ts';

/** Counts the spans of this process by their outcome. */
@Injectable()
export class TraceMetrics {
  constructor(metrics: Metrics) {
    const counter: Counter<'result'> = new Counter({
      name: 'darkroom_trace_spans_total',
      help: 'Spans by what became of them: sent, dropped because too many waited, failed in an export.',
      labelNames: ['result'],
      registers: [metrics.registry],
      collect: () => {
        counter.reset();
        for (const [result, spans] of Object.entries(traces.counts)) counter.inc({ result }, spans);
      },
    });
  }
}
