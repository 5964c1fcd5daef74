import type { Client, ClientConfig } from 'pg';
import { ask } from './ask.ts';
import { type Answer, choosePrimary } from './choose.ts';
import { goesOnPlain, urlOf } from './encryption.ts';
import { type DatabaseHost, hostsOf } from '../../config/database-hosts.ts';
import { ServerClient, WORDS } from './server-client.ts';

/**
 * How long a server may take to answer in a search for the primary. This is long, because at a start the process loads
 * its modules and is slow to read what has arrived.
 */
const FIND_TIMEOUT_MS = 5_000;
/**
 * How long the search waits for the other servers after the first one has said that it is primary. If another one was
 * promoted later, it answers in this time. A dead server delays the search no longer.
 */
const OTHERS_MS = 1_000;
const ASK_TIMEOUT_MS = 1_500;

/** PostgreSQL's code for a server that takes no connections at present. Callers answer it with 503. */
const CANNOT_CONNECT_NOW = '57P03';

/**
 * The servers that a database URL names, and which of them is the primary. With a URL of one server nothing is asked:
 * the connection itself shows the role.
 */
export class Servers {
  readonly isPrimaryWanted: boolean;
  private hosts: readonly DatabaseHost[];
  private current: DatabaseHost | undefined;

  /** @throws Error whose message begins with "must", to follow the name of the variable */
  constructor(url: string) {
    const { hosts, isPrimaryWanted } = hostsOf(url);
    this.hosts = hosts;
    this.isPrimaryWanted = isPrimaryWanted;
    if (hosts.length === 1) this.current = hosts[0];
  }

  get areSeveral(): boolean {
    return this.hosts.length > 1;
  }

  get isFound(): boolean {
    return this.current !== undefined;
  }

  private get others(): readonly DatabaseHost[] {
    return this.hosts.filter((host) => host !== this.current);
  }

  /** URL of the primary, or of the first server until the primary is found. */
  get url(): string {
    return urlOf(this.current ?? this.hosts[0]!);
  }

  /** host:port of the server of `url`, for messages. */
  get name(): string {
    return (this.current ?? this.hosts[0]!).name;
  }

  /**
   * Makes later connections use the user and the password of this URL. Open connections stay.
   * @throws Error whose message begins with "must", if the URL is wrong or differs in more than user and password
   */
  changeLogin(url: string): void {
    const { hosts, isPrimaryWanted } = hostsOf(url);
    const isSame =
      isPrimaryWanted === this.isPrimaryWanted &&
      hosts.length === this.hosts.length &&
      hosts.every((host, at) => URL.canParse(host.url) && withoutLogin(host) === withoutLogin(this.hosts[at]!));
    if (!isSame) throw new Error('must differ in user and password only; anything else needs a restart');
    const { current } = this;
    this.hosts = hosts;
    this.current = current && hosts.find(({ name }) => name === current.name);
  }

  /**
   * Finds the primary: asks every server for its role. Asks nothing if the URL names one server.
   * @throws Error if no server takes writes, or the servers that take writes are of different clusters
   */
  async find(): Promise<void> {
    if (!this.areSeveral) return;
    const answers = await askAll(this.hosts);
    this.current = choosePrimary(answers);
    if (!this.current) throw noPrimary(answers);
  }

  /**
   * Asks the other servers for their roles. If one says that it is primary, asks the present server too, and chooses
   * the primary among them.
   * @returns whether another server is the primary now
   */
  async hasMoved(): Promise<boolean> {
    const before = this.current;
    if (!this.areSeveral || !before) return false;
    const answers = await Promise.all(this.others.map((host) => ask(host, ASK_TIMEOUT_MS)));
    if (!answers.some(({ role }) => role === 'primary')) return false;
    const now = choosePrimary([...answers, await ask(before, ASK_TIMEOUT_MS)], before);
    if (now === undefined || now === before) return false;
    this.current = now;
    return true;
  }

  /**
   * Opens a connection outside of the pool, to the present primary.
   * @throws Error of the search or of the connection
   */
  async connect(config: ClientConfig): Promise<Client> {
    await this.find();
    try {
      return await this.open(config);
    } catch (error) {
      if (goesOnPlain(this.current!, error)) return this.open(config);
      throw error;
    }
  }

  private async open(config: ClientConfig): Promise<Client> {
    const client = new ServerClient({ ...config, connectionString: this.url, isPrimaryWanted: this.isPrimaryWanted });
    client.on('error', () => undefined); // the next query reports the error
    try {
      await client.connect();
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }
}

function withoutLogin({ url }: DatabaseHost): string {
  return Object.assign(new URL(url), { username: '', password: '' }).href;
}

/** @returns the answers of all servers, except those that came more than `OTHERS_MS` after the first primary's */
async function askAll(hosts: readonly DatabaseHost[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  const isLate = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const asked = hosts.map(async (host) => {
    const answer = await ask(host, FIND_TIMEOUT_MS);
    answers.push(answer);
    if (answer.role === 'primary') timer ??= setTimeout(isLate.resolve, OTHERS_MS);
  });
  await Promise.race([Promise.all(asked), isLate.promise]);
  clearTimeout(timer);
  return [...answers];
}

function noPrimary(answers: readonly Answer[]): Error {
  const notes = answers.map((answer) =>
    answer.role === 'away'
      ? `${answer.host.name} is away (${answer.cause.message || (answer.cause as { code?: string }).code})`
      : `${answer.host.name} is ${WORDS[answer.role]}`,
  );
  const error = new Error(`No server of the database takes writes: ${notes.join(', ')}.`);
  return Object.assign(error, { code: CANNOT_CONNECT_NOW });
}
