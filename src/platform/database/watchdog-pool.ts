import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import { connectionAwaited } from './pool-metrics.ts';
import { PrimaryWatch } from './servers/primary-watch.ts';
import { ServerClient } from './servers/server-client.ts';
import { Servers } from './servers/servers.ts';

/** A connection that is in use for longer than this triggers a probe. */
const SUSPECT_AFTER_MS = 500;
const CHECK_INTERVAL_MS = 250;
/**
 * A live server sends its first byte to a new connection within a few milliseconds, under load within a few hundred.
 */
const PROBE_TIMEOUT_MS = 1_250;

export interface WatchdogPoolConfig extends PoolConfig {
  /** Replaces `connectionString`: this URL may name several servers, which pg cannot read. */
  databaseUrl?: string;
  /** A pooler answers even if its server does not: only an answer to a statement shows that the server works. */
  isBehindPooler?: boolean;
}

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

/**
 * A connection pool with a liveness probe, for a server behind a network that drops packets. Behind such a network a
 * client never learns that the server has ended its statement, and TCP waits for minutes. If a connection is in use for
 * more than 500 ms, the pool opens another one as a probe. If neither the probe nor any pooled connection receives a
 * byte, the pool destroys all connections and fails fast until a probe succeeds.
 *
 * If the URL names several servers, the pool connects to the primary. When this server stops taking writes, or another
 * one has become the primary, the pool destroys all connections, even those in a transaction.
 */
export class WatchdogPool extends Pool {
  private readonly inUseSince = new Map<PoolClient, number>();
  /** The sockets of all connections: idle, in use and opening. */
  private readonly sockets: Set<Socket>;
  private readonly checks: NodeJS.Timeout;
  /** Not `this.options`: pg hides the password there, so a copy would lack it. */
  private readonly config: WatchdogPoolConfig;
  private readonly servers: Servers;
  private readonly primary: PrimaryWatch;
  private isSilent = false;
  private isProbing = false;

  constructor(config: WatchdogPoolConfig) {
    const sockets = new Set<Socket>();
    const servers = new Servers(config.databaseUrl ?? config.connectionString!);
    super({ ...config, stream: () => openSocket(sockets), Client: clientOf(servers) });
    this.sockets = sockets;
    this.config = config;
    this.servers = servers;
    this.primary = new PrimaryWatch(servers, () => {
      this.isSilent = false; // the next server is another one
      this.leave();
    });
    this.on('error', () => undefined); // an idle connection broke; the pool has removed it already
    // Without a listener, a connection that breaks while in use would end the process. Its query reports the failure.
    this.on('connect', (client) => client.on('error', () => undefined));
    // Behind a pooler the role of the server is unknown: the pooler repeats what the server said at its first
    // connection.
    if (!config.isBehindPooler) this.on('connect', (client) => this.primary.observe(client as unknown as ServerClient));
    this.on('acquire', (client) => this.inUseSince.set(client, performance.now()));
    this.on('release', (_error, client) => this.inUseSince.delete(client));
    this.on('remove', (client) => this.inUseSince.delete(client));
    this.checks = setInterval(() => void this.check(), CHECK_INTERVAL_MS).unref();
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    if (!this.servers.isFound) return this.connectOnceFound(callback);
    if (!this.isSilent) {
      const askedMs = performance.now();
      if (callback) {
        return super.connect((...result) => {
          connectionAwaited(askedMs);
          if (result[0]) this.primary.noteFailure();
          callback(...result);
        });
      }
      return super
        .connect()
        .catch((error: unknown) => {
          this.primary.noteFailure();
          throw error;
        })
        .finally(() => connectionAwaited(askedMs));
    }
    const error = Object.assign(new Error('The database does not answer.'), { code: 'ETIMEDOUT' });
    if (!callback) return Promise.reject(error);
    process.nextTick(callback, error, undefined, () => undefined);
  }

  /** See `Servers.changeLogin`. */
  changeLogin(url: string): void {
    this.servers.changeLogin(url);
  }

  override end(): Promise<void>;
  override end(callback: () => void): void;
  override end(callback?: () => void): Promise<void> | void {
    clearInterval(this.checks);
    return callback ? super.end(callback) : super.end();
  }

  /**
   * Until a search has found the primary, each connection searches first, and fails if the search fails. Later only the
   * timer searches: while the known primary is lost, connections fail.
   */
  private connectOnceFound(callback?: ConnectCallback): Promise<PoolClient> | void {
    if (!callback) return this.servers.find().then(() => this.connect());
    void this.callOnceFound(callback);
  }

  private async callOnceFound(callback: ConnectCallback): Promise<void> {
    try {
      await this.servers.find();
    } catch (error) {
      process.nextTick(callback, error as Error, undefined, () => undefined);
      return;
    }
    this.connect(callback);
  }

  /** Destroys idle connections too: they may be dead, and then the next caller would wait for an answer in vain. */
  private leave(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }

  private async check(): Promise<void> {
    const suspectSince = performance.now() - SUSPECT_AFTER_MS;
    const isSuspect = [...this.inUseSince.values()].some((since) => since < suspectSince);
    void this.primary.check(isSuspect || this.isSilent);
    if (this.isProbing || !(this.isSilent || isSuspect)) return;
    this.isProbing = true;
    const wasSilent = this.isSilent;
    this.isSilent = await this.probe();
    if (this.isSilent && !wasSilent) this.leave();
    this.isProbing = false;
  }

  /**
   * Waits for a byte, because a busy server may take seconds to accept a login but sends its first byte soon. A refusal
   * counts as an answer too: callers get it from their own connections.
   * @returns true when no byte arrived, neither on a new connection nor on any existing one
   */
  private async probe(): Promise<boolean> {
    const bytesBefore = new Map([...this.sockets].map((socket) => [socket, socket.bytesRead]));
    const socket = new Socket();
    const connectionString = this.servers.url;
    const pulse = { stream: () => socket, application_name: 'darkroom:pulse' };
    const client = new Client({ ...this.config, connectionString, ...pulse });
    client.on('error', () => undefined);
    let answered = false;
    const over = Promise.withResolvers<void>();
    const recordAnswer = (): void => {
      answered = true;
      over.resolve();
    };
    if (!this.config.isBehindPooler) socket.once('data', recordAnswer);
    client
      .connect()
      .then(() => client.query('select 1'))
      .then(recordAnswer, recordAnswer);
    const timer = setTimeout(over.resolve, PROBE_TIMEOUT_MS);
    await over.promise;
    clearTimeout(timer);
    await nextTurn(); // after a stall of this process, timers run before the bytes that arrived meanwhile
    await nextTurn();
    socket.destroy();
    // Behind a pooler the login of a new connection proves nothing.
    const before = (open: Socket): number => bytesBefore.get(open) || (this.config.isBehindPooler ? Infinity : 0);
    return !answered && [...this.sockets].every((open) => open.bytesRead <= before(open));
  }
}

/** pg-pool makes its clients with `new`. Each connects to the server that is the primary at that moment. */
function clientOf(servers: Servers): PoolConfig['Client'] {
  return class extends ServerClient {
    constructor(config?: ClientConfig) {
      super({ ...config, connectionString: servers.url, isPrimaryWanted: servers.isPrimaryWanted });
    }
  };
}

function openSocket(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  return socket.once('close', () => sockets.delete(socket));
}
