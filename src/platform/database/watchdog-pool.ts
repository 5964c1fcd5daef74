import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';

/** A connection held for longer is looked into. */
const SUSPECT_AFTER_MS = 500;
const LOOK_MS = 250;
/** A server that lives says something to a new connection within a few milliseconds, and under load within some hundred. */
const PULSE_MS = 1_250;

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

/**
 * A pool that notices a server which answers nothing, as one behind a line that swallows packets: no time-out of the server
 * ends a statement then, and TCP waits for minutes. A statement that takes long is asked about on a new connection; only
 * if nothing is heard there either, nor anywhere else, all connections are cut and callers are refused at once, until a
 * pulse is felt.
 */
export class WatchdogPool extends Pool {
  readonly #held = new Map<PoolClient, number>();
  readonly #looks: NodeJS.Timeout;
  readonly #config: PoolConfig;
  #isSilent = false;
  #isLooking = false;

  constructor(config: PoolConfig = {}) {
    super(config);
    this.#config = config;
    this.on('error', () => undefined); // an idle connection broke; the pool has dropped it already
    // Without a listener one that breaks while it is held would end the process; its holder learns of it from the query.
    this.on('connect', (client) => client.on('error', () => undefined));
    this.on('acquire', (client) => this.#held.set(client, performance.now()));
    this.on('release', (_error, client) => this.#held.delete(client));
    this.on('remove', (client) => this.#held.delete(client));
    this.#looks = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    if (!this.#isSilent) return callback ? super.connect(callback) : super.connect();
    const error = Object.assign(new Error('The database does not answer.'), { code: 'ETIMEDOUT' });
    if (!callback) return Promise.reject(error);
    process.nextTick(callback, error, undefined, () => undefined);
  }

  override end(): Promise<void>;
  override end(callback: () => void): void;
  override end(callback?: () => void): Promise<void> | void {
    clearInterval(this.#looks);
    return callback ? super.end(callback) : super.end();
  }

  async #look(): Promise<void> {
    const suspectSince = performance.now() - SUSPECT_AFTER_MS;
    const isSuspect = [...this.#held.values()].some((since) => since < suspectSince);
    if (this.#isLooking || !(this.#isSilent || isSuspect)) return;
    this.#isLooking = true;
    const wasSilent = this.#isSilent;
    this.#isSilent = await this.#isServerSilent();
    if (this.#isSilent && !wasSilent) this.#cut();
    this.#isLooking = false;
  }

  /**
   * Not a byte on a new connection, nor on any that is there. A busy machine may take seconds to let somebody in, but its
   * first word comes soon; and a refusal is an answer too: it reaches the callers by itself.
   */
  async #isServerSilent(): Promise<boolean> {
    const heardBefore = new Map(this.#clients.map((client) => [client, streamOf(client).bytesRead]));
    const pulse = new Client({ ...this.#config, application_name: 'darkroom:pulse' });
    pulse.on('error', () => undefined);
    let answered = false;
    const over = Promise.withResolvers<void>();
    const note = (): void => {
      answered = true;
      over.resolve();
    };
    streamOf(pulse).once('data', note);
    pulse.connect().catch(note);
    const timer = setTimeout(over.resolve, PULSE_MS);
    await over.promise;
    clearTimeout(timer);
    await nextTurn(); // after a stall of our own, timers run before what came in meanwhile
    await nextTurn();
    streamOf(pulse).destroy();
    return !answered && this.#clients.every((client) => streamOf(client).bytesRead <= (heardBefore.get(client) ?? 0));
  }

  /** Those that are idle too: nobody knows what became of them, and the next caller would find out by waiting. */
  #cut(): void {
    for (const client of this.#clients) streamOf(client).destroy();
  }

  get #clients(): Client[] {
    return (this as unknown as { _clients: Client[] })._clients;
  }
}

const streamOf = (client: Client) => (client as unknown as { connection: { stream: Socket } }).connection.stream;
