import { createReadStream } from 'node:fs';
import { chmod, copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { Config } from '../../platform/config/config.ts';
import { sinceBaseline } from '../../platform/database/baseline-names.ts';
import { withBulkClient } from '../../platform/database/copy/bulk-client.ts';
import { writeRows } from '../../platform/database/copy/copy-rows.ts';
import { assertEmpty, readMigrations, readTables, truncateTables } from '../../platform/database/copy/tables.ts';
import { withTransaction } from '../../platform/database/copy/transactions.ts';
import { createDataDir } from '../../platform/database/embedded/embedded-cluster.ts';
import { migrate, migrateTo } from '../../platform/database/migrate.ts';
import { MIGRATIONS } from '../../platform/database/migrations.ts';
import { findSecretKeys, Secrets } from '../../platform/config/secrets.ts';
import { openStorage } from '../../platform/storage/storage.module.ts';
import { readStorageMarker, writeStorageMarker } from '../../platform/storage/storage-marker.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { assertWhole } from './digest.ts';
import { type BackupTable, type Manifest, pathOfFileList, pathOfSecretKey, pathOfTable } from './manifest.ts';
import { assertNotAhead } from './not-ahead.ts';
import { putFiles } from './stored-files.ts';

/**
 * Fills an empty database, and the storage if the backup has files. The rows come after the files and in one
 * transaction, so a restore can be repeated until it has committed the rows.
 * @throws Error for the operator
 */
export async function restoreBackup(config: Config, url: string, folder: string, backup: Manifest): Promise<void> {
  await withBulkClient(url, (client) => assertRestorable(client, backup));
  const storage = await openStorage(config);
  await assertUnusedBy(storage, backup);
  for (const table of backup.tables) await assertWhole(pathOfTable(folder, table.name), table);
  if (backup.files) {
    await assertWhole(pathOfFileList(folder), backup.files);
    await putFiles(storage, folder);
    if (backup.storage_marker !== null) await writeStorageMarker(storage, backup.storage_marker);
  }
  await migrateTo(url, sinceBaseline(backup.migrations));
  await withBulkClient(url, (client) => withTransaction(client, () => loadTables(client, folder, backup)));
  // A migration may change rows, so migrations newer than the backup run after its rows are loaded.
  await migrate(url, { isBehindPooler: config.databaseDirectUrl !== null });
}

/**
 * Checks the secret key. Call it before the database is started. If the installation has no key and the backup has one,
 * copies that key.
 * @throws Error for the operator if there is no key, or the key is not that of the backup: then the restored API keys
 *   and secrets of webhooks could not be used
 */
export async function prepareSecretKey(config: Config, folder: string, backup: Manifest): Promise<void> {
  let keys = await findSecretKeys(config);
  if (!keys && (await exists(pathOfSecretKey(folder)))) {
    createDataDir(config.dataDir);
    const file = join(config.dataDir, 'secret-key');
    await copyFile(pathOfSecretKey(folder), file);
    await chmod(file, 0o600); // the backup may have been on a file system that loses modes
    keys = await findSecretKeys(config);
  }
  if (!keys) {
    throw new Error(
      `There is no secret key. Set SECRET_KEY, or put the file secret-key of the installation into ${config.dataDir}.`,
    );
  }
  const given = new Secrets(keys).fingerprints();
  if (!given.includes(backup.secret_key_fingerprint)) {
    throw new Error(
      'SECRET_KEY is not the one of the backup: its API keys and secrets of webhooks would be worthless.',
    );
  }
  const missing = backup.older_secret_key_fingerprints.filter((fingerprint) => !given.includes(fingerprint));
  if (missing.length > 0) {
    console.error(`SECRET_KEY lacks ${missing.length} older keys of the backup. What they made will not work.`);
  }
}

async function assertRestorable(client: Client, backup: Manifest): Promise<void> {
  const known = MIGRATIONS.map(({ name }) => name);
  const migrations = sinceBaseline(backup.migrations);
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(
      `The backup is of a newer version, ${backup.version}: this program does not know its migration ${unknown[0]}.`,
    );
  }
  await assertEmpty(client);
  assertNotAhead(await readMigrations(client), migrations);
}

/** Refuses the bucket or folder of another installation: the files of both would mix. */
async function assertUnusedBy(storage: Storage, backup: Manifest): Promise<void> {
  const marker = await readStorageMarker(storage);
  if (marker !== null && marker !== backup.storage_marker) {
    throw new Error('The storage belongs to another database. Choose an empty DATA_DIR, or another STORAGE_URL.');
  }
}

async function loadTables(client: Client, folder: string, backup: Manifest): Promise<void> {
  await assertEmpty(client);
  const tables = await readTables(client);
  const missing = backup.tables.filter(({ name }) => !tables.some((table) => table.name === name));
  if (missing.length > 0) throw new Error(`The database has no table ${missing[0]!.name}, which the backup has.`);
  await truncateTables(client, tables);
  // `readTables` lists the tables so that a row is loaded after the rows that it refers to.
  for (const { name } of tables) {
    const table = backup.tables.find((each) => each.name === name);
    if (table) await loadTable(client, folder, table);
  }
}

async function loadTable(client: Client, folder: string, table: BackupTable): Promise<void> {
  const path = pathOfTable(folder, table.name);
  const { rows, sha256 } = await writeRows(client, table, createReadStream(path));
  if (rows !== table.rows || sha256 !== table.sha256) {
    throw new Error(`${path} changed during the restore, which is undone.`);
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
