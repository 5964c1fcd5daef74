import type { Client } from 'pg';
import { SESSION_SETTINGS } from './data-source.ts';
import { Servers } from './servers/servers.ts';

/**
 * Rounds of the check. One is too few, because a pooler may by chance give two clients different server processes.
 * Without a pooler, two clients never share a server process.
 */
const ROUNDS = 5;

/**
 * Identifies the server process behind a connection, even if a failover puts another machine behind the address. The
 * two settings tell whether the settings of the session have arrived.
 */
const BACKEND = `select pg_backend_pid() || ' ' || extract(epoch from pg_postmaster_start_time()) as backend,
  current_setting('lock_timeout') as lock_timeout, current_setting('enable_seqscan') as enable_seqscan`;

export interface Backend {
  backend: string;
  lock_timeout: string;
  enable_seqscan: string;
}

const ADVICE =
  'Connect it to PostgreSQL itself, or by a proxy that passes whole connections through; for PgBouncer in transaction mode set ' +
  'DATABASE_POOLER=transaction and DATABASE_DIRECT_URL.';

/**
 * Refuses a database that is behind a pooler, such as PgBouncer. A pooler keeps nothing that belongs to a session. The
 * service needs LISTEN, session locks, prepared statements and its own settings. Behind a pooler the service would
 * start and be ready, but migrations would wait for ever, live events would be late, and creations would fail.
 * @param variable the setting that the URL is from
 * @throws Error for the operator, which names the variable
 */
export async function assertOwnSessions(url: string, variable = 'DATABASE_URL'): Promise<void> {
  const clients: Client[] = [];
  try {
    while (clients.length < 2) {
      clients.push(await new Servers(url).connect({ application_name: 'darkroom:check', ...SESSION_SETTINGS }));
    }
    const [first, second] = clients.map((client) => async () => (await client.query<Backend>(BACKEND)).rows[0]!);
    await assertOwnBackends(first!, second!, variable);
  } catch (error) {
    if (isRefusedSetting(error)) throw new Error(droppedSettings(variable, (error as Error).message), { cause: error });
    throw clients.length < 2 ? noConnection(variable, error as Error) : error;
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/**
 * Adds the name of the setting to the message. If both addresses of localhost refuse the connection, Node rejects with
 * an AggregateError that has no message of its own.
 */
function noConnection(variable: string, error: NodeJS.ErrnoException): Error {
  const messages =
    error instanceof AggregateError ? error.errors.map(({ message }: Error) => message) : [error.message];
  return Object.assign(new Error(`${variable} cannot be used: ${messages.join(', ')}`), { code: error.code });
}

/**
 * Checks that two open connections have server processes of their own and the settings of the service.
 * @param first reads the backend of one connection, `second` that of the other
 * @throws Error for the operator, which names `variable`
 */
export async function assertOwnBackends(
  first: () => Promise<Backend>,
  second: () => Promise<Backend>,
  variable = 'DATABASE_URL',
): Promise<void> {
  const own = await first();
  for (let round = 0; round < ROUNDS; round += 1) {
    const isShared = (await second()).backend === own.backend || (await first()).backend !== own.backend;
    if (isShared) {
      throw new Error(
        `${variable} leads to a pooler in transaction or statement mode (such as PgBouncer), which keeps no sessions. ${ADVICE}`,
      );
    }
  }
  if (own.enable_seqscan !== 'off' || own.lock_timeout === '0') {
    throw new Error(
      droppedSettings(variable, `lock_timeout is ${own.lock_timeout}, enable_seqscan ${own.enable_seqscan}`),
    );
  }
}

/**
 * PgBouncer refuses startup parameters that it does not know. It drops those that `ignore_startup_parameters` lists.
 */
const isRefusedSetting = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('unsupported startup parameter');

const droppedSettings = (variable: string, what: string): string =>
  `${variable} leads to a pooler (such as PgBouncer) that does not pass on the settings of a session (${what}). ${ADVICE}`;
