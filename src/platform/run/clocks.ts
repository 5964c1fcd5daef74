/** A moment on both clocks of this process, in milliseconds. */
export interface Clocks {
  /** Unix time. It jumps when the clock is set. */
  wallMs: number;
  /** On some systems it stops while the machine is frozen. */
  monotonicMs: number;
}

export const readClocks = (): Clocks => ({ wallMs: Date.now(), monotonicMs: performance.now() });

/** The time since a moment, in milliseconds: by the clock that shows more, so that no standstill is missed. */
export function elapsedMs(since: Clocks): number {
  const now = readClocks();
  return Math.max(now.wallMs - since.wallMs, now.monotonicMs - since.monotonicMs);
}
