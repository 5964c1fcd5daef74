import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { QueryPlan } from './query-plan.ts';

/** A plan keeps the document of its query, with its text: 530 kB (measured) for one with as many tokens as are allowed. */
const MAX_QUERIES = 100;
/** Characters. A longer text is no query that a client sends again and again. */
const LONGEST = 16_000;

export interface KnownQuery {
  plan: QueryPlan;
  variables: Record<string, unknown> | undefined;
  /** As Apollo chose it for the same `Accept`. */
  contentType: string;
}

interface Kept {
  plan: QueryPlan;
  contentType: string;
  operationName: unknown;
  accept: string | undefined;
}

/**
 * Queries that Apollo has parsed, validated and answered with a plan. From then on the plan answers the same text itself, without the
 * way through Apollo. Apollo still answers whatever it might refuse.
 */
export class KnownQueries {
  private readonly byText = new LRUCache<string, Kept>({ max: MAX_QUERIES });

  /** @returns undefined if Apollo has to answer */
  find({ method, body, headers }: FastifyRequest): KnownQuery | undefined {
    if (method !== 'POST' || typeof body !== 'object' || body === null) return undefined;
    const { query, variables, operationName, extensions } = body as Record<string, unknown>;
    if (typeof query !== 'string' || extensions !== undefined || !isOptionalRecord(variables)) return undefined;
    const kept = this.byText.get(query);
    if (!kept || kept.operationName !== operationName || kept.accept !== headers.accept) return undefined;
    return { plan: kept.plan, contentType: kept.contentType, variables: variables ?? undefined };
  }

  /** @param plan which made the answer of Apollo to this request */
  keep({ method, body, headers }: FastifyRequest, plan: QueryPlan, contentType: string): void {
    const { query, operationName } = (body ?? {}) as { query?: string; operationName?: unknown };
    if (method !== 'POST' || query === undefined || query.length > LONGEST) return;
    this.byText.set(query, { plan, contentType, operationName, accept: headers.accept });
  }
}

const isOptionalRecord = (value: unknown): value is Record<string, unknown> | null | undefined =>
  value === undefined || (typeof value === 'object' && !Array.isArray(value));
