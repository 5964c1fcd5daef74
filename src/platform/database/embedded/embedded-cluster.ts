import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { choosePostgresUser, type PostgresUser } from './postgres-user.ts';

/** The files of the embedded database, and the user and programs that work on them. */
export interface EmbeddedCluster {
  /** PostgreSQL's data folder, DATA_DIR/postgres. */
  path: string;
  password: string;
  binaries: PostgresBinaries;
  user: PostgresUser;
  /** false only in tests: faster, but a power cut may lose data. */
  fsync: boolean;
}

/** Name of the role and of its database. The role may create databases (tests do), but is not a superuser. */
export const EMBEDDED_NAME = 'darkroom';

/**
 * Creates the folder if it is missing. If this process is root, the mode is 0711, because the database runs as another
 * user, who must traverse the folder. Secrets inside have the mode 0600 or 0700.
 */
export function createDataDir(dataDir: string): void {
  if (existsSync(dataDir)) return;
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** Opens the cluster, and creates it when there is none. Only one process at a time may call this. */
export async function openCluster(dataDir: string, fsync: boolean): Promise<EmbeddedCluster> {
  const path = join(dataDir, 'postgres');
  const binaries = findPostgresBinaries();
  const user = choosePostgresUser(dataDir, path, binaries);
  const cluster = { path, binaries, user, fsync, password: readPassword(dataDir) };
  if (!existsSync(path)) await initialise(cluster);
  return cluster;
}

function readPassword(dataDir: string): string {
  const file = join(dataDir, 'postgres-password');
  if (!existsSync(file)) {
    if (existsSync(join(dataDir, 'postgres'))) throw new Error(`${file} is missing; the database cannot be opened.`);
    writeFileSync(file, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  }
  return readFileSync(file, 'utf8').trim();
}

/**
 * Builds the cluster in a temporary folder and renames it when it is complete, so that a kill leaves no partial
 * cluster.
 */
async function initialise({ path, password, binaries, user, fsync }: EmbeddedCluster): Promise<void> {
  const draft = `${path}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  user.own(draft);

  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  // "trust" never takes effect: the rule below replaces it before the first start. This rule admits no superuser, so
  // the superuser is usable only while the server is down (postgres --single).
  const rest = ['-U', 'postgres', '--auth=trust', '--no-instructions', ...(fsync ? [] : ['--no-sync'])];
  await user.run(binaries.initdb, ['-D', draft, ...locale, ...rest]);
  writeFileSync(join(draft, 'pg_hba.conf'), `host all ${EMBEDDED_NAME} 127.0.0.1/32 scram-sha-256\n`);
  await user.run(binaries.postgres, ['--single', '-D', draft, ...(fsync ? [] : ['-F']), 'postgres'], {
    input:
      `create role ${EMBEDDED_NAME} login createdb password '${password}';\n` +
      `create database ${EMBEDDED_NAME} owner ${EMBEDDED_NAME};\n`,
  });
  renameSync(draft, path);
}
