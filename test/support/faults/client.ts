import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ErrorBody, TaskBody } from '../clients/api.ts';

/** One request as a client saw it; status 0: the connection failed, without an answer. */
export interface Seen {
  status: number;
  /** Milliseconds. */
  took: number;
  retryAfter: string | null;
  code: string | null;
  taskId: string | null;
}

/** A client that waits for ever would make a test that does. */
const PATIENCE_MS = 15_000;

/** Sends a create, whatever comes of it. */
export async function tryCreate(api: Api, body: object, key: string): Promise<Seen> {
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  try {
    const asked = api.create<TaskBody & Partial<ErrorBody>>(body, { 'idempotency-key': key });
    const answer = await Promise.race([asked, sleep(PATIENCE_MS, null, { ref: false })]);
    if (!answer) throw new Error('No answer came.');
    return {
      status: answer.status,
      took: took(),
      retryAfter: answer.headers.get('retry-after'),
      code: answer.body?.error?.code ?? null,
      taskId: answer.status === 201 ? answer.body.task_id : null,
    };
  } catch {
    return { status: 0, took: took(), retryAfter: null, code: null, taskId: null };
  }
}

/**
 * Sends a create as a good client does: the same Idempotency-Key, again and again, to one API after the other, until it is
 * accepted.
 * @returns the task, and every try
 */
export async function createSurely(
  apis: () => Api[],
  body: object,
  key: string,
  withinMs = 60_000,
): Promise<{ taskId: string; tries: Seen[] }> {
  const tries: Seen[] = [];
  const giveUp = Date.now() + withinMs;
  for (let at = 0; Date.now() < giveUp; at += 1) {
    const all = apis();
    const seen = await tryCreate(all[at % all.length]!, body, key);
    tries.push(seen);
    if (seen.taskId) return { taskId: seen.taskId, tries };
    if (seen.status !== 0 && seen.status !== 503 && seen.status !== 409) break;
    await sleep(150);
  }
  throw new Error(`Not accepted: ${JSON.stringify(tries.slice(-5))}`);
}

/** The value below which `share` of the numbers lie. */
export function quantile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
