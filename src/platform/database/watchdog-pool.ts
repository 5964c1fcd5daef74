import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import { ApiError } from '../../errors/api-error.ts';
import { currentRequest } from '../observe/logging/request-context.ts';
import { Turns } from '../run/turns.ts';
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

/** The fraction of the connections that the requests of one API key, or of one address without a key, may use. */
const SHARE = 1 / 4;
/** With one connection, a slow statement would hold up all other requests of its key. */
const FEWEST = 2;
/** The fraction of the connections that is kept for API keys and addresses without a connection. */
const KEPT = 1 / 4;
/** How long a request waits for the share of its API key, if the pool has no timeout for connections. */
const SHARE_WAIT_MS = 2_000;

export interface WatchdogPoolConfig extends PoolConfig {
  /** Replaces `connectionString`: this URL may name several servers, which pg cannot read. */
  databaseUrl?: string;
  /**
   * Whether the server is behind a pooler. A pooler answers even if the server does not, so only an answer to a
   * statement shows that the server works.
   */
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
  /**
   * The shares of API keys in the connections. A key that has a connection gets no other one from the part in `KEPT`.
   */
  private readonly shares: Turns;
  /** For each connection of a request: the function that ends its count in the share of its API key. */
  private readonly leaves = new Map<PoolClient, () => void>();
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
    const { max } = this.options;
    this.shares = new Turns(max, { ofOwner: Math.max(FEWEST, Math.floor(max * SHARE)), kept: Math.floor(max * KEPT) });
    this.servers = servers;
    this.primary = new PrimaryWatch(servers, () => {
      this.isSilent = false; // new connections go to another server
      this.leave();
    });
    this.on('error', () => undefined); // an idle connection broke; the pool has removed it already
    // Without a listener, a connection that breaks while in use would end the process. The query on the connection
    // reports the failure.
    this.on('connect', (client) => client.on('error', () => undefined));
    // Behind a pooler the role of the server is unknown: the pooler repeats what the server said at its first
    // connection.
    if (!config.isBehindPooler) this.on('connect', (client) => this.primary.observe(client as unknown as ServerClient));
    this.on('acquire', (client) => this.inUseSince.set(client, performance.now()));
    this.on('release', (_error, client) => {
      this.inUseSince.delete(client);
      this.leaves.get(client)?.();
      this.leaves.delete(client);
    });
    this.on('remove', (client) => this.inUseSince.delete(client));
    this.checks = setInterval(() => void this.check(), CHECK_INTERVAL_MS).unref();
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    if (callback) return this.connectInShare(callback);
    return new Promise((resolve, reject) =>
      this.connectInShare((error, client) => (error ? reject(error) : resolve(client!))),
    );
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

  /** A connection for a request counts in the share of its API key, until it is released. */
  private connectInShare(callback: ConnectCallback): void {
    const askedMs = performance.now();
    const owner = currentRequest.getStore()?.shareOf;
    if (owner === undefined) return this.connectNow(askedMs, callback);
    const leave = this.shares.tryEnter(owner);
    if (leave) this.connectCounted(leave, askedMs, callback);
    else void this.connectInTurn(owner, askedMs, callback);
  }

  private async connectInTurn(owner: string, askedMs: number, callback: ConnectCallback): Promise<void> {
    let leave: () => void;
    try {
      leave = await this.shares.enter(
        owner,
        AbortSignal.timeout(this.options.connectionTimeoutMillis || SHARE_WAIT_MS),
      );
    } catch {
      connectionAwaited(askedMs);
      process.nextTick(callback, noShareLeft(), undefined, () => undefined);
      return;
    }
    this.connectCounted(leave, askedMs, callback);
  }

  private connectCounted(leave: () => void, askedMs: number, callback: ConnectCallback): void {
    this.connectNow(askedMs, (error, client, done) => {
      if (client) this.leaves.set(client, leave);
      else leave();
      callback(error, client, done);
    });
  }

  private connectNow(askedMs: number, callback: ConnectCallback): void {
    if (!this.servers.isFound) return void this.connectOnceFound(askedMs, callback);
    if (this.isSilent) {
      const error = Object.assign(new Error('The database does not answer.'), { code: 'ETIMEDOUT' });
      return process.nextTick(callback, error, undefined, () => undefined);
    }
    super.connect((...result) => {
      connectionAwaited(askedMs);
      if (result[0]) this.primary.noteFailure();
      callback(...result);
    });
  }

  /**
   * Until a search has found the primary, each connection searches first, and fails if the search fails. Later only the
   * timer searches: while the known primary is lost, connections fail.
   */
  private async connectOnceFound(askedMs: number, callback: ConnectCallback): Promise<void> {
    try {
      await this.servers.find();
    } catch (error) {
      process.nextTick(callback, error as Error, undefined, () => undefined);
      return;
    }
    this.connectNow(askedMs, callback);
  }

  /** Destroys all connections. An idle one may be dead too: then the next caller would wait for an answer in vain. */
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
   * Waits for a byte, because a busy server may take seconds to accept a login but sends its first byte soon. If the
   * server refuses the connection, this counts as an answer too: callers see the refusal on their own connections.
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
    await nextTurn(); // after a stall, timers run before the process reads the bytes that have arrived
    await nextTurn();
    socket.destroy();
    // A connection without earlier bytes is new. Behind a pooler the bytes of its login prove nothing.
    const before = (open: Socket): number => bytesBefore.get(open) || (this.config.isBehindPooler ? Infinity : 0);
    return !answered && [...this.sockets].every((open) => open.bytesRead <= before(open));
  }
}

const noShareLeft = (): ApiError =>
  new ApiError('service_unavailable', {
    message: 'The connections to the database are in use, or you use your share of them; try again.',
    retryAfterS: 1,
  });

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
