import { AsyncLocalStorage } from 'node:async_hooks';

export type Attributes = Record<string, string | number | boolean | null | undefined>;

/** A sampled span that has not ended. What is not sampled has no span at all. */
export interface OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Never pass a prompt, a key, the text of an error or a URL with a query. null and undefined are left out. */
  set(attributes: Attributes): void;
  rename(name: string): void;
  event(name: string, attributes: Attributes): void;
  /** @param type a code or the name of a class, never a message */
  fail(type: string): void;
  end(): void;
}

export interface SpanOptions {
  /** `internal` if absent. */
  kind?: 'server' | 'client' | 'consumer';
  /**
   * The span above this one: a traceparent that `link` returned, perhaps in another process. If absent, the current
   * span. null means that the span above was not sampled, so this span is not sampled either.
   */
  parent?: string | null;
  /** Whether the span begins a trace of its own. The caller has then decided to sample it. */
  isRoot?: boolean;
  /** Traceparents of other spans, most of them of other traces. At most 32 are kept. */
  links?: readonly string[];
  attributes?: Attributes;
  /** Replaces the random id, so that a later span can link to this one, even if the process of this span is dead. */
  spanId?: string;
}

/** The span and the stage that the current code belongs to. */
export interface Scope {
  span: OpenSpan;
  /** The stage of a run at its provider, such as `download`. It changes while the span stays the same. */
  stage: Stage | null;
}

export interface Stage {
  span: OpenSpan;
  provider: string;
  /** How often the upstream was polled so far. */
  polls: number;
}

export const currentScope = new AsyncLocalStorage<Scope | undefined>();

/** The span of the current code; undefined if it is not sampled. */
export function activeSpan(): OpenSpan | undefined {
  const scope = currentScope.getStore();
  return scope?.stage?.span ?? scope?.span;
}

/** The fields of a log line that name this span. */
export const traceFieldsOf = ({ traceId, spanId }: OpenSpan) => ({ trace_id: traceId, span_id: spanId });

const TYPE = /^[\w.]{1,64}$/;

/**
 * The code of an error, or the name of its class; `Error` if neither is a short word. Never its message, which may
 * repeat a prompt.
 */
export function errorTypeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const found = [code, name, error].find((text) => typeof text === 'string' && TYPE.test(text));
  return (found as string | undefined) ?? 'Error';
}
