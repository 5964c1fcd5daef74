/**
 * Fleeting news between processes. It may be lost: whoever hears needs a way to re-read, and does so when told that
 * news may have been missed. Durable news is a row.
 */
export interface Bus {
  /** Tells every other process; small texts only (at most 500 bytes each), gathered into few messages. */
  publish(topic: string, body: string): void;
  /** @returns how to stop hearing */
  subscribe(topic: string, listener: (bodies: string[]) => void): () => void;
  /**
   * Called when news may have been missed: the connection is back after it was away, or another process had to drop some.
   * @param listener is told for how many seconds, at most, back from now
   */
  onReconnect(listener: (deafS: number) => void): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const BUS = Symbol('Bus');
