/** What carries the messages of a bus to the other processes and back to this one. It replaces broken connections. */
export interface Transport {
  readonly maxMessageBytes: number;
  /** Of one `send`. */
  readonly maxMessages: number;
  /** Between two calls of `send`. */
  readonly throttleMs: number;
  /** Whether there is a connection to send with, as far as it knows. */
  readonly canSend: boolean;
  /** Whether messages can be received too. */
  readonly isUp: boolean;
  open(listener: TransportListener): Promise<void>;
  /** @throws if it cannot send; then it replaces the connection */
  send(messages: string[]): Promise<unknown>;
  /** Replaces connections that look open. */
  renew(): void;
  close(): Promise<void>;
}

export interface TransportListener {
  /** A message came, possibly one of this process. */
  received(text: string): void;
  /** The connections are new, and up. */
  listening(): void;
  /** There is a connection to send with. */
  sendable(): void;
  /** The connection that receives is gone. */
  interrupted(error?: Error): void;
  /** An attempt to connect failed. */
  failed(error?: Error): void;
}
