/** Carries the messages of a bus to the other processes and back to this one. Replaces broken connections. */
export interface Transport {
  readonly maxMessageBytes: number;
  /** The most messages of one `send`. */
  readonly maxMessages: number;
  /** Milliseconds between two calls of `send`. */
  readonly throttleMs: number;
  /** Whether there seems to be a connection to send with. */
  readonly canSend: boolean;
  /** Whether messages can be sent and received. */
  readonly isUp: boolean;
  open(listener: TransportListener): Promise<void>;
  /** @throws if the messages cannot be sent; the transport then replaces the connection */
  send(messages: string[]): Promise<unknown>;
  /** Replaces connections that look open but do not work. */
  renew(): void;
  close(): Promise<void>;
}

export interface TransportListener {
  /** A message came, possibly one of this process. */
  received(text: string): void;
  /** A connection is new, and all connections are up. */
  listening(): void;
  /** There is a connection to send with. */
  sendable(): void;
  /** The connection that receives is gone. */
  interrupted(error?: Error): void;
  /** An attempt to connect failed. */
  failed(error?: Error): void;
}
