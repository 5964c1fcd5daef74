/** Identifies a span to other processes: `00-<trace id>-<span id>-<flags>` (W3C Trace Context), 55 bytes. */
export interface SpanReference {
  traceId: string;
  spanId: string;
  isSampled: boolean;
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** @returns null for a text that is no traceparent: then the specification says to start a new trace */
export function parseTraceparent(given: unknown): SpanReference | null {
  const match = typeof given === 'string' ? TRACEPARENT.exec(given) : null;
  if (!match) return null;
  const [, version, traceId, spanId, flags, more] = match;
  if (version === '00' && more !== undefined) return null;
  return { traceId: traceId!, spanId: spanId!, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

export const toTraceparent = ({ traceId, spanId }: Pick<SpanReference, 'traceId' | 'spanId'>): string =>
  `00-${traceId}-${spanId}-01`;
