import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { choosePostgresUser, type PostgresUser } from './postgres-user.ts';

/** The files of the embedded database, and who works on them. */
export interface EmbeddedCluster {
  /** PostgreSQL's own folder, DATA_DIR/postgres. */
  path: string;
  password: string;
  binaries: PostgresBinaries;
  user: PostgresUser;
  /** false only in tests: trades safety after a power cut for speed. */
  fsync: boolean;
}

/** Name of the role and of its database. It may create others (tests do), but it is no superuser. */
export const EMBEDDED_NAME = 'darkroom';

/** 0711 as root, because the database runs as another user and has to pass; what is secret inside is 0600 or 0700. */
export function createDataDir(dataDir: string): void {
  if (existsSync(dataDir)) return;
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** To be called by one process at a time. Makes the cluster when there is none. */
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

/** Builds the cluster beside its place and moves it in when it is complete, so that a kill half-way leaves nothing. */
async function initialise({ path, password, binaries, user, fsync }: EmbeddedCluster): Promise<void> {
  const draft = `${path}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  user.own(draft);

  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  // "trust" is never in force: the rule below replaces it before the first start. The superuser has no password, so it
  // can only be used while the server is down (postgres --single).
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
