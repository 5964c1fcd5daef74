import { type Client, escapeIdentifier, escapeLiteral } from 'pg';
import { PLANNER, SESSION_SETTINGS } from './data-source.ts';
import { Servers } from './servers/servers.ts';

const { statement_timeout, lock_timeout, idle_in_transaction_session_timeout } = SESSION_SETTINGS;

/** The settings that every session needs, by name. The values have the form in which PostgreSQL shows them. */
const WANTED: Readonly<Record<string, string>> = {
  statement_timeout: `${statement_timeout / 1000}s`,
  lock_timeout: `${lock_timeout / 1000}s`,
  idle_in_transaction_session_timeout: `${idle_in_transaction_session_timeout / 1000}s`,
  ...Object.fromEntries(PLANNER.map((setting) => setting.split('=') as [string, string])),
};

const READ = 'select name, current_setting(name) as value from unnest($1::text[]) as name';

/** @returns the settings of the connection whose values differ from `WANTED`, such as `jit is on` */
export async function missingSettings(client: Pick<Client, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ name: string; value: string }>(READ, [Object.keys(WANTED)]);
  return rows.filter(({ name, value }) => WANTED[name] !== value).map(({ name, value }) => `${name} is ${value}`);
}

/**
 * Gives every later connection of this role to this database the settings of the service. A pooler needs this, because
 * it takes no settings from a client. A role may change its own settings.
 */
export async function keepSettingsInRole(url: string): Promise<void> {
  const client = await new Servers(url).connect({ application_name: 'darkroom:migrate', keepAlive: true });
  try {
    if ((await missingSettings(client)).length === 0) return;
    const { rows } = await client.query<{ name: string }>('select current_database() as name');
    const database = escapeIdentifier(rows[0]!.name);
    await client.query('begin');
    for (const [name, value] of Object.entries(WANTED)) {
      await client.query(`alter role current_user in database ${database} set ${name} = ${escapeLiteral(value)}`);
    }
    await client.query('commit');
  } finally {
    await client.end().catch(() => undefined);
  }
}
