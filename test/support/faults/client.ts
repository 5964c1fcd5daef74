import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ErrorBody, TaskBody } from '../clients/api.ts';

/** The result of one request. With status 0 the connection failed without a response. */
export interface Attempt {
  status: number;
  /** Milliseconds until the result. */
  took: number;
  retryAfter: string | null;
  code: string | null;
  taskId: string | null;
}

/** The limit for each request, so that a lost response cannot block the test. */
const TIMEOUT_MS = 15_000;

/** Sends a request that creates a task. Never throws. */
export async function attemptCreate(api: Api, body: object, key: string): Promise<Attempt> {
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  try {
    const sent = api.create<TaskBody & Partial<ErrorBody>>(body, { 'idempotency-key': key });
    const answer = await Promise.race([sent, sleep(TIMEOUT_MS, null, { ref: false })]);
    if (!answer) throw new Error('No response arrived.');
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
 * Creates a task as a well-behaved client does: it retries with the same Idempotency-Key, at one API process after the
 * other, until the request is accepted.
 * @returns the task and every attempt
 */
export async function createWithRetries(
  apis: () => Api[],
  body: object,
  key: string,
  withinMs = 60_000,
): Promise<{ taskId: string; attempts: Attempt[] }> {
  const attempts: Attempt[] = [];
  const deadline = Date.now() + withinMs;
  for (let at = 0; Date.now() < deadline; at += 1) {
    const all = apis();
    const attempt = await attemptCreate(all[at % all.length]!, body, key);
    attempts.push(attempt);
    if (attempt.taskId) return { taskId: attempt.taskId, attempts };
    if (attempt.status !== 0 && attempt.status !== 503 && attempt.status !== 409) break;
    await sleep(150);
  }
  throw new Error(`Not accepted: ${JSON.stringify(attempts.slice(-5))}`);
}

/** The value below which this share of the numbers lies. */
export function quantile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
