import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { readClocks } from '../../platform/run/clocks.ts';

const CHECK_EVERY_MS = 1_000;

/**
 * Decides when an expired lease means a dead worker. After a standstill every lease looks expired, although its worker
 * may live. A standstill is a start of this process (after an outage all may start), a frozen machine or a changed
 * clock. For one heartbeat and a second after it, live workers may renew their leases.
 */
@Injectable()
export class TakeoverPause implements OnModuleInit, OnApplicationShutdown {
  private checks: NodeJS.Timeout | undefined;
  private last = readClocks();
  private untilMs: number;
  private readonly heartbeatMs: number;
  private readonly listeners: (() => void)[] = [];

  constructor(config: Config) {
    this.heartbeatMs = config.taskHeartbeatS * 1000;
    this.untilMs = this.last.monotonicMs + this.pauseMs;
  }

  onModuleInit(): void {
    this.last = readClocks();
    this.untilMs = this.last.monotonicMs + this.pauseMs;
    this.checks = setInterval(() => this.check(), CHECK_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.checks);
  }

  /** @param listener called after a standstill; it should renew the leases of this process at once */
  onStandstill(listener: () => void): void {
    this.listeners.push(listener);
  }

  isOver(): boolean {
    this.check();
    return performance.now() >= this.untilMs;
  }

  /**
   * Compares the wall clock with the monotonic clock, because a frozen machine stops the monotonic clock on some
   * systems only.
   */
  private check(): void {
    const now = readClocks();
    const elapsedMs = now.monotonicMs - this.last.monotonicMs;
    const shiftMs = Math.abs(now.wallMs - this.last.wallMs - elapsedMs);
    this.last = now;
    if (elapsedMs <= CHECK_EVERY_MS + this.heartbeatMs && shiftMs <= this.heartbeatMs) return;
    this.untilMs = now.monotonicMs + this.pauseMs;
    for (const listener of this.listeners) listener();
  }

  private get pauseMs(): number {
    return this.heartbeatMs + 1_000;
  }
}
