import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';

/**
 * Per process. Waits count as requests in flight, of which a process accepts 10,000: one key must not hold them all.
 * With this bound it takes 50 keys. A key runs 50 tasks at once by default, so each can be waited for four times.
 */
const MAX_WAITS_PER_KEY = 200;

/** A request that waits for the end of a task. */
interface OpenWait {
  /** Aborts when the request must be answered with the present state of its task. */
  over: AbortSignal;
  /** Call when the request stops waiting. */
  close(): void;
}

/** The requests that wait for a task (`?wait`, `Prefer: wait`): limited per key, answered at once when the service stops. */
@Injectable()
export class OpenWaits implements BeforeApplicationShutdown {
  private readonly open = new Set<AbortController>();
  private readonly ofKey = new Map<string, number>();
  private isStopping = false;

  /**
   * @param gone aborts when the client has disconnected or its key is refused
   * @returns null if the request must not wait
   */
  start(apiKeyId: string, gone?: AbortSignal): OpenWait | null {
    const count = this.ofKey.get(apiKeyId) ?? 0;
    if (this.isStopping || count >= MAX_WAITS_PER_KEY) return null;
    const controller = new AbortController();
    gone?.addEventListener('abort', () => controller.abort(), { once: true });
    if (gone?.aborted) controller.abort();
    this.open.add(controller);
    this.ofKey.set(apiKeyId, count + 1);
    return { over: controller.signal, close: () => this.close(apiKeyId, controller) };
  }

  /** Ends all waits and accepts no further ones. The waiting requests are answered with the present state. */
  endAll(): void {
    this.isStopping = true;
    for (const controller of this.open) controller.abort();
  }

  beforeApplicationShutdown(): void {
    this.endAll();
  }

  private close(apiKeyId: string, controller: AbortController): void {
    if (!this.open.delete(controller)) return;
    const count = (this.ofKey.get(apiKeyId) ?? 0) - 1;
    if (count > 0) this.ofKey.set(apiKeyId, count);
    else this.ofKey.delete(apiKeyId);
  }
}
