import { Client, type ClientConfig } from 'pg';

/** PostgreSQL's code for a write on a server that takes none. */
export const READ_ONLY = '25006';

export interface ServerClientConfig extends ClientConfig {
  /**
   * Connect only if the server takes writes. The first messages of a session say whether it does, so the check costs no
   * round trip.
   */
  isPrimaryWanted?: boolean;
}

export type ServerRole = 'primary' | 'standby' | 'read-only' | 'unreported';

interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

/** A connection that knows whether its server takes writes: PostgreSQL 14 and newer report this unasked. */
export class ServerClient extends Client {
  /** Called when a server that took writes refuses a write, or says that it takes no more writes. */
  onReadOnly: (() => void) | undefined;
  private readonly reported = new Map<string, string>();
  private readonly isPrimaryWanted: boolean;
  private wasPrimary = false;

  constructor(config: ServerClientConfig) {
    super(config);
    this.isPrimaryWanted = config.isPrimaryWanted ?? false;
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      this.reported.set(parameterName, parameterValue);
      if (this.wasPrimary && this.role !== 'primary') this.turnedReadOnly();
    });
    this.connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (this.wasPrimary && code === READ_ONLY) this.turnedReadOnly();
    });
  }

  get role(): ServerRole {
    const isStandby = this.reported.get('in_hot_standby');
    if (isStandby === undefined) return 'unreported';
    if (isStandby === 'on') return 'standby';
    return this.reported.get('default_transaction_read_only') === 'on' ? 'read-only' : 'primary';
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<Client> | void {
    if (!callback) {
      return super.connect().then(() => {
        const refusal = this.begun();
        if (refusal) throw refusal;
        return this;
      });
    }
    super.connect((error: Error) => callback(error ?? this.begun()!));
  }

  /**
   * Call this when the session has begun. Ends the connection if the server is not wanted.
   * @returns why the server is not wanted; undefined if it is wanted
   */
  private begun(): Error | undefined {
    this.wasPrimary = this.role === 'primary';
    if (!this.isPrimaryWanted || this.wasPrimary) return undefined;
    this.connection.stream.destroy();
    const message = `${this.host}:${this.port} accepts no writes: it is ${WORDS[this.role]}.`;
    return Object.assign(new Error(message), { code: READ_ONLY });
  }

  /** Calls `onReadOnly` once. */
  private turnedReadOnly(): void {
    this.wasPrimary = false;
    this.onReadOnly?.();
  }
}

export const WORDS: Readonly<Record<ServerRole, string>> = {
  primary: 'a primary',
  standby: 'a standby',
  'read-only': 'read-only',
  unreported: 'older than PostgreSQL 14, or a pooler',
};
