/**
 * Ephemeral events between processes. Events may be lost: a subscriber needs a way to re-read, and does so when the bus
 * reports that events may have been missed. Whatever must not be lost is a row instead.
 */
export interface Bus {
  /** Sends to every other process. Bodies are at most 500 bytes each and are batched into few messages. */
  publish(topic: string, body: string): void;
  /** @returns a function that ends the subscription */
  subscribe(topic: string, listener: (bodies: string[]) => void): () => void;
  /**
   * Calls the listener when events may have been missed: after this process reconnected, or when another one had to
   * drop some.
   * @param listener gets the upper bound of how many seconds ago the first missed event was published
   */
  onReconnect(listener: (missedS: number) => void): void;
  /** Whether events get through; otherwise this process relies on polls. */
  readonly isConnected: boolean;
  /** Events that wait to be sent. */
  readonly waiting: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const BUS = Symbol('Bus');
