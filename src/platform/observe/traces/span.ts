import { AsyncLocalStorage } from 'node:async_hooks';

export type Attributes = Record<string, string | number | boolean | null | undefined>;

/** A span that is sampled and not ended. Whatever is not sampled has no span at all. */
export interface OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Never a prompt, a key, the text of an error or a URL with a query. null and undefined are left out. */
  set(attributes: Attributes): void;
  rename(name: string): void;
  event(name: string, attributes: Attributes): void;
  /** @param type a code or the name of a class, never a message */
  fail(type: string): void;
  end(): void;
}

export interface SpanOptions {
  /** internal when absent. */
  kind?: 'server' | 'client' | 'consumer';
  /**
   * Absent: the current span. A traceparent, as `link` returned it: that span, which may be of another process. null:
   * the parent was not sampled, so this span is not either.
   */
  parent?: string | null;
  /** Begins a trace of its own, which the caller has decided to sample. */
  isRoot?: boolean;
  /** Traceparents of other spans, most of them of other traces. At most 32 are kept. */
  links?: readonly string[];
  attributes?: Attributes;
  /** In place of a random one: for a span that others will link without having seen it. */
  spanId?: string;
}

/** What the current code belongs to. */
export interface Scope {
  span: OpenSpan;
  /** The stage of a run, which begins and ends while the same code goes on. */
  stage: Stage | null;
}

export interface Stage {
  span: OpenSpan;
  /** Who is called. */
  provider: string;
  /** Reads of the upstream so far. */
  polls: number;
}

export const currentScope = new AsyncLocalStorage<Scope | undefined>();

/** The span of the current code, if it is sampled. */
export function activeSpan(): OpenSpan | undefined {
  const scope = currentScope.getStore();
  return scope?.stage?.span ?? scope?.span;
}

/** Of a line of the log. */
export const traceFieldsOf = ({ traceId, spanId }: OpenSpan) => ({ trace_id: traceId, span_id: spanId });

const TYPE = /^[\w.]{1,64}$/;

/** The code of an error, or the name of its class: texts of errors may repeat a prompt. */
export function errorTypeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const found = [code, name, error].find((text) => typeof text === 'string' && TYPE.test(text));
  return (found as string | undefined) ?? 'Error';
}
