import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { Config } from '../../platform/config/config.ts';
import { withBulkClient } from '../../platform/database/copy/bulk-client.ts';
import { readRows } from '../../platform/database/copy/copy-rows.ts';
import { lockTables, readMigrations, readTables } from '../../platform/database/copy/tables.ts';
import { withSnapshot } from '../../platform/database/copy/transactions.ts';
import { loadSecretKeys, Secrets } from '../../platform/config/secrets.ts';
import { openStorage } from '../../platform/storage/storage.module.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { VERSION } from '../../platform/config/version.ts';
import { digestFile } from './digest.ts';
import { listFiles, writeLines } from './list-files.ts';
import { type Manifest, pathOfFileList, pathOfSecretKey, pathOfTable, writeManifest } from './manifest.ts';
import { readMarker, readMoment } from './sql/read-moment.ts';
import { pathOfDraft, saveFiles } from './stored-files.ts';

export interface BackupOptions {
  /** false: without the files, because the bucket or the volume has a backup of its own. */
  files: boolean;
  withSecretKey?: boolean;
}

/**
 * Copies the database first, then the files. A task succeeds only after its files are stored, so no file of a copied
 * task is missing.
 */
export async function writeBackup(
  config: Config,
  url: string,
  folder: string,
  { files, withSecretKey = false }: BackupOptions,
): Promise<Manifest> {
  if (withSecretKey && config.secretKey)
    throw new Error('--with-secret-key is for a key in DATA_DIR; yours is in SECRET_KEY.');
  await makeFolder(folder);
  const secrets = new Secrets(await loadSecretKeys(config));
  const [newestKey, ...olderKeys] = secrets.fingerprints();
  const storage = files ? await openStorage(config) : null;
  const database = await withBulkClient(url, (client) =>
    withSnapshot(client, () => copyDatabase(client, folder, storage)),
  );
  const manifest: Omit<Manifest, 'format'> = {
    version: VERSION,
    ...database,
    files: storage && (await copyFiles(storage, folder)),
    secret_key_fingerprint: newestKey,
    older_secret_key_fingerprints: olderKeys,
  };
  if (withSecretKey) await copyFile(join(config.dataDir, 'secret-key'), pathOfSecretKey(folder));
  await writeManifest(folder, manifest);
  return { format: 1, ...manifest };
}

/** @throws Error for the operator if the folder is not empty */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new Error(`${folder} is not empty. A backup needs a folder of its own.`);
  await mkdir(join(folder, 'tables'), { mode: 0o700 });
}

/** An open snapshot keeps PostgreSQL from removing dead rows, so the files are only listed here and copied later. */
async function copyDatabase(client: Client, folder: string, storage: Storage | null) {
  const moment = await readMoment(client);
  const tables = await readTables(client);
  await lockTables(client, tables);
  const migrations = await readMigrations(client);
  if (migrations.length === 0) throw new Error('The database is empty: there is nothing to back up.');
  const copied: Manifest['tables'] = [];
  for (const table of tables) {
    const file = createWriteStream(pathOfTable(folder, table.name), { flags: 'wx', mode: 0o600, flush: true });
    const { name, columns } = table;
    copied.push({ name, columns, ...(await readRows(client, table, file)) });
  }
  if (storage) await writeLines(pathOfDraft(folder), listFiles(client, storage));
  return { ...moment, migrations, tables: copied, storage_marker: await readMarker(client) };
}

async function copyFiles(storage: Storage, folder: string) {
  const copied = await saveFiles(storage, folder);
  const { sha256 } = await digestFile(pathOfFileList(folder));
  return { ...copied, sha256 };
}
