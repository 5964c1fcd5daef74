import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../clients/api.ts';
import { type Attempt, attemptCreate } from './client.ts';

const CLIENTS = 4;
/** The pause between two creations of one client. */
const PAUSE_MS = 60;

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
const aPicture = { model: 'gpt-image-2', prompt: 'A cat on a roof' };
/** A request whose task fails in the sandbox. */
const aRefusal = { model: 'nano-banana-2', prompt: '#fail:content_policy_violation' };

/** Load for a failover: clients that create tasks all the time, and one that reads the accepted tasks. */
export class FailoverLoad {
  readonly accepted: { id: string; wants: string }[] = [];
  readonly answers: Attempt[] = [];
  /** Answers that no client should get. */
  readonly wrong: unknown[] = [];
  longestGapMs = 0;
  lastAcceptedMs = performance.now();
  private readonly over = new AbortController();
  private readonly running: Promise<void>[];
  private nth = 0;

  constructor(private readonly api: () => Api) {
    this.running = [...Array.from({ length: CLIENTS }, () => this.create()), this.read()];
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
  }

  statuses(): Record<number, number> {
    return Object.fromEntries(
      [...new Set(this.answers.map(({ status }) => status))].map((status) => [
        status,
        this.answers.filter((answer) => answer.status === status).length,
      ]),
    );
  }

  /** @returns how each accepted task ended */
  async untilFinal(): Promise<{ id: string; ok: boolean; error: unknown }[]> {
    const finals = [];
    for (const { id, wants } of this.accepted) {
      const { status, error } = await this.api().untilFinalWithin(id, 60_000);
      finals.push({ id, ok: (error?.code ?? status) === wants, error: error ?? status });
    }
    return finals;
  }

  private async create(): Promise<void> {
    while (!this.over.signal.aborted) {
      const nth = (this.nth += 1);
      const body = nth % 40 === 0 ? aFilm : nth % 40 === 20 ? aPicture : aRefusal;
      const answer = await attemptCreate(this.api(), body, `failover-${nth}`);
      this.judge(answer);
      if (answer.taskId) {
        this.accepted.push({
          id: answer.taskId,
          wants: body === aRefusal ? 'content_policy_violation' : 'succeeded',
        });
        const now = performance.now();
        this.longestGapMs = Math.max(this.longestGapMs, now - this.lastAcceptedMs);
        this.lastAcceptedMs = now;
      }
      await sleep(PAUSE_MS);
    }
  }

  private judge(answer: Attempt): void {
    this.answers.push(answer);
    const { status, retryAfter } = answer;
    const isRight = status === 201 || status === 429 || (status === 503 && Number(retryAfter) > 0);
    if (!isRight) this.wrong.push(answer);
  }

  /**
   * Reads accepted tasks all the time. Each must exist from its acceptance on, and must not change once it is final.
   */
  private async read(): Promise<void> {
    const final = new Map<string, string>();
    while (!this.over.signal.aborted) {
      await sleep(30);
      const one = this.accepted[Math.floor(Math.random() * this.accepted.length)];
      if (!one) continue;
      const { status, body, headers } = await this.api().get(`/v1/tasks/${one.id}`);
      if (status === 503 && Number(headers.get('retry-after')) > 0) continue;
      const before = final.get(one.id);
      if (status !== 200 || (before && before !== body.status)) this.wrong.push({ read: one.id, status, body, before });
      else if (['succeeded', 'failed'].includes(body.status)) final.set(one.id, body.status);
    }
  }
}
