import { join } from 'node:path';
import { type Config, loadConfig } from '../../platform/config/config.ts';
import { hostsOf } from '../../platform/config/database-hosts.ts';
import { withDatabaseUrl } from '../installation/database.ts';
import { moveDatabase } from './move-database.ts';

interface MoveCommand {
  to: string;
  wait: number;
  json?: true;
}

export async function move({ to, wait, json }: MoveCommand): Promise<void> {
  assertPostgres(to);
  const config = loadConfig();
  const tell = (line: string): void => console.error(line);
  const tables = await withDatabaseUrl(config, (from) => moveDatabase(from, to, { waitS: wait, tell }));
  if (json) console.log(JSON.stringify(tables, null, 2));
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  console.error(`${rows} rows of ${tables.length} tables are the same in both databases. Before the next start, set:`);
  for (const line of settingsAfter(config)) console.error(`  ${line}`);
}

/** @throws Error for the operator; its message does not contain the password */
function assertPostgres(url: string): void {
  try {
    hostsOf(url);
  } catch (error) {
    throw new Error('--to must be an address as DATABASE_URL takes it', { cause: error });
  }
}

function settingsAfter({ databaseDirectUrl, secretKey, storageUrl, dataDir }: Config): string[] {
  return [
    databaseDirectUrl
      ? 'DATABASE_DIRECT_URL to the address of --to, and DATABASE_URL to that of its pooler'
      : 'DATABASE_URL to the address of --to',
    secretKey
      ? 'SECRET_KEY as it is'
      : `SECRET_KEY_FILE=${join(dataDir, 'secret-key')}, or SECRET_KEY to what is in it`,
    storageUrl ? 'STORAGE_URL as it is' : `DATA_DIR=${dataDir}, where the files are`,
  ];
}
