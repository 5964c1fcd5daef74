/** Thrown in a render thread when nobody wants the result any more. */
export class Stopped extends Error {}

/** An image that passed the check at the door and still cannot be decoded. */
export class UndecodableImage extends Error {
  readonly param: string;

  constructor(param: string, cause: unknown) {
    super('an image cannot be decoded', { cause });
    this.param = param;
  }
}

const REPORT_EVERY_MS = 200;

/** A render's line to whoever ordered it: how far it is, and whether to go on. */
export class Watch {
  readonly #stop: Int32Array;
  readonly #report: (share: number) => void;
  #reportedAt = 0;

  constructor(stop: SharedArrayBuffer, report: (share: number) => void) {
    this.#stop = new Int32Array(stop);
    this.#report = report;
  }

  /**
   * Call between pieces of work of at most some 100 ms.
   * @param share of the whole work that is done, 0 to 1
   * @throws Stopped
   */
  reached(share: number): void {
    if (Atomics.load(this.#stop, 0) !== 0) throw new Stopped();
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    this.#report(share);
  }
}

/**
 * One turn of the event loop. Pixel buffers that were dropped are only given back to the system there:
 * without it, 30 frames of 4K held 1.1 GB, with it 350 MB.
 */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
