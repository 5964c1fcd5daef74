import { ask } from './ask.ts';
import { hostsOf } from '../../config/database-hosts.ts';
import { WORDS } from './server-client.ts';
import { Servers } from './servers.ts';

/** A server that takes longer to answer is reported as away. */
const ASK_TIMEOUT_MS = 5_000;

/** `sync_state` is null for roles that are not in `pg_monitor`. */
const STANDBYS = `select coalesce(nullif(application_name, ''), client_addr::text) as name, sync_state
  from pg_stat_replication order by 1`;
const SETTINGS = `select current_setting('synchronous_standby_names') as names, current_setting('synchronous_commit') as commit`;

export interface Replication {
  /** A setting of the primary. */
  synchronousStandbyNames: string;
  synchronousCommit: string;
  standbys: readonly { name: string | null; sync_state: string | null }[];
}

/**
 * Tells an operator the role of each server of the URL, and what a failover may lose.
 * @throws Error if no server takes writes
 */
export async function replicationReport(url: string): Promise<string> {
  const { hosts } = hostsOf(url);
  const answers = hosts.length > 1 ? await Promise.all(hosts.map((host) => ask(host, ASK_TIMEOUT_MS))) : [];
  const roles = answers.map((answer) => {
    if (answer.role === 'away') return `${answer.host.name} is away (${answer.cause.message})`;
    const timeline = answer.role === 'primary' ? `, timeline ${answer.timeline}` : '';
    return `${answer.host.name} is ${WORDS[answer.role]}${timeline}`;
  });
  return [...roles, lossNote(await read(url))].join('; ');
}

async function read(url: string): Promise<Replication> {
  const client = await new Servers(url).connect({ application_name: 'darkroom:check', connectionTimeoutMillis: 5_000 });
  try {
    const { rows } = await client.query<{ names: string; commit: string }>(SETTINGS);
    const standbys = (await client.query<Replication['standbys'][number]>(STANDBYS)).rows;
    return { synchronousStandbyNames: rows[0]!.names, synchronousCommit: rows[0]!.commit, standbys };
  } finally {
    await client.end().catch(() => undefined);
  }
}

const RISK = 'a failover may lose accepted tasks, for which an upstream was paid';

/**
 * What a failover may lose, in words. Only a synchronous standby is sure to have every commit that a client was told
 * of.
 */
export function lossNote({ synchronousStandbyNames, synchronousCommit, standbys }: Replication): string {
  if (synchronousStandbyNames === '') {
    return `WARNING no standby is synchronous: ${RISK} (unless the disks are replicated). Set synchronous_standby_names`;
  }
  if (['off', 'local'].includes(synchronousCommit)) {
    return `WARNING synchronous_commit is ${synchronousCommit}: ${RISK}`;
  }
  if (standbys.some(({ sync_state }) => sync_state === null)) {
    return `commits wait for ${synchronousStandbyNames}; whether a standby is connected is for members of pg_monitor to see`;
  }
  const synchronous = standbys.filter(({ sync_state }) => sync_state === 'sync' || sync_state === 'quorum');
  if (synchronous.length === 0) {
    return `WARNING commits wait for ${synchronousStandbyNames}, and no such standby is connected: every creation gets 503`;
  }
  const names = synchronous.map(({ name }) => name).join(', ');
  const only =
    synchronous.length === 1 ? '. WARNING without it every creation gets 503: a second one would step in' : '';
  return `synchronous: ${names}${only}`;
}
