import { existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createDataDir, EMBEDDED_NAME, type EmbeddedCluster, openCluster } from './embedded-cluster.ts';
import { withExclusiveFile } from './exclusive-file.ts';
import { clearStalePid, isPostgres, readPostmasterPid } from './postmaster-pid.ts';

export interface EmbeddedPostgres {
  /** Connection string including the password: never log it. */
  url: string;
  /** Call this after closing your own connections. The last process to leave stops the server. Never throws. */
  leave(): Promise<void>;
}

const WAIT_MS = 60_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const START_ATTEMPTS = 5;

/**
 * Overrides of PostgreSQL's defaults at every start. Operators can change other settings in the cluster's
 * postgresql.conf.
 */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=', // no socket: its path could exceed the length limit of socket paths
  'max_connections=200',
  'shared_buffers=128MB',
  'timezone=UTC',
  'log_timezone=UTC',
  // The service logs its failed statements itself. PostgreSQL's log would write their text, with prompts, to the disk.
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_error_verbosity=terse',
  'log_checkpoints=off',
];
const WITHOUT_FSYNC = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** Error codes of a server that is starting, stopping, recovering or out of connections: try again. */
const RETRY_CODES = ['57P03', '53300', 'ECONNREFUSED', 'ECONNRESET'];

/**
 * Starts the PostgreSQL in `dataDir`. If its server is already running, this process joins it: another process
 * (ROLE=api beside ROLE=worker) has started the server, or a killed process has left it running. The first start
 * creates the cluster.
 * @param options.fsync false only in tests
 * @throws Error that suggests a remedy (another DATA_DIR, another user, DATABASE_URL)
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  { fsync = true }: { fsync?: boolean } = {},
): Promise<EmbeddedPostgres> {
  createDataDir(dataDir);
  const lock = join(dataDir, 'postgres.lock');

  const { cluster, presence } = await withExclusiveFile(lock, WAIT_MS * 2, async () => {
    const cluster = await openCluster(dataDir, fsync);
    return { cluster, presence: (await joinServer(cluster)) ?? (await startServer(cluster)) };
  });

  let left: Promise<void> | undefined;
  return {
    url: urlOf(cluster, presence.port),
    leave: () => (left ??= withExclusiveFile(lock, WAIT_MS, () => leave(cluster, presence)).catch(() => undefined)),
  };
}

/**
 * Each process keeps this connection open from its start to its `leave()`. A process that leaves counts the connections
 * of others. If there are none, it is the last process and stops the server.
 */
type Presence = Client & { ref(): void; unref(): void }; // pg has both methods, its types do not

/**
 * Joins the server that `postmaster.pid` names. Returns null if there is no such file, or if its server does not accept
 * a connection.
 */
async function joinServer(cluster: EmbeddedCluster): Promise<Presence | null> {
  for (const giveUpAt = Date.now() + WAIT_MS; Date.now() < giveUpAt; await sleep(100)) {
    const running = readPostmasterPid(cluster.path);
    if (!running) return null;
    try {
      return await connect(cluster, running.port);
    } catch (error) {
      if (!isPostgres(running.pid)) {
        clearStalePid(cluster.path);
        return null;
      }
      if (!RETRY_CODES.includes((error as { code?: string }).code ?? '')) return null;
    }
  }
  return null;
}

async function startServer(cluster: EmbeddedCluster): Promise<Presence> {
  const { path, user, binaries, fsync } = cluster;
  const log = join(path, 'server.log');
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) truncateSync(log);

  const settings = [...SETTINGS, ...(fsync ? [] : WITHOUT_FSYNC)].map((setting) => `-c ${setting}`);
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const options = [`-p ${port}`, ...settings].join(' ');
    const args = ['start', '-D', path, '-l', log, '-w', '-t', String(WAIT_MS / 1000), '-o', options];
    try {
      await user.run(binaries.pgCtl, args, { timeoutMs: WAIT_MS + 5000 });
      return await connect(cluster, port);
    } catch (cause) {
      // Possible causes: the server is still recovering after a crash, another program has taken the port, or children
      // of a killed server are still ending.
      const joined = await joinServer(cluster);
      if (joined) return joined;
      if (attempt === START_ATTEMPTS) {
        const lastLines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').slice(-10).join('\n') : '';
        throw new Error(`The embedded PostgreSQL in ${path} does not start. The end of its log:\n${lastLines}`, {
          cause,
        });
      }
      await sleep(200 * attempt);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close();
      resolve(port);
    });
  });
}

/** The embedded server offers no encryption. The operator's PGSSLMODE is meant for another server. */
const urlOf = ({ password }: EmbeddedCluster, port: number) =>
  `postgres://${EMBEDDED_NAME}:${password}@127.0.0.1:${port}/${EMBEDDED_NAME}?sslmode=disable`;

async function connect(cluster: EmbeddedCluster, port: number): Promise<Presence> {
  const client = new Client({
    connectionString: urlOf(cluster, port),
    application_name: 'darkroom:presence',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  client.on('error', () => undefined); // the server is gone; the next query of the pool reports it
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  (client as Presence).unref(); // must not keep the process alive
  return client as Presence;
}

async function leave(cluster: EmbeddedCluster, presence: Presence): Promise<void> {
  presence.ref();
  await presence.end().catch(() => undefined);
  // Counted on a new connection: another process may have restarted the server in the meantime and still need it.
  const running = readPostmasterPid(cluster.path);
  if (!running || (await countClients(urlOf(cluster, running.port))) > 0) return;
  await cluster.user.run(cluster.binaries.pgCtl, ['stop', '-D', cluster.path, '-m', 'fast', '-w', '-t', '30']);
}

/**
 * Counts all sessions, including an operator's psql. If there are any, counts once more, because a session that just
 * closed may still be listed.
 */
async function countClients(url: string): Promise<number> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (let attempt = 1; ; attempt++) {
      const { rows } = await client.query<{ clients: number }>(
        `select count(*)::int as clients from pg_stat_activity
          where datname is not null and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      const { clients } = rows[0]!;
      if (clients === 0 || attempt === 2) return clients;
      await sleep(200);
    }
  } finally {
    await client.end();
  }
}
