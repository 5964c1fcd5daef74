import { resolve } from 'node:path';
import { loadConfig } from '../../platform/config/config.ts';
import { withDatabaseUrl } from '../installation/database.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { prepareSecretKey, restoreBackup } from './restore-backup.ts';
import { type BackupOptions, writeBackup } from './write-backup.ts';

interface Shown {
  json?: true;
}

export async function backup(path: string, { json, ...options }: BackupOptions & Shown): Promise<void> {
  const folder = resolve(path);
  const config = loadConfig();
  const manifest = await withDatabaseUrl(config, (url) => writeBackup(config, url, folder, options));
  if (json) return show(manifest);
  console.error(`${contentsOf(manifest)} as of ${manifest.taken_at} are in ${folder}.`);
  if (!config.secretKey && !options.withSecretKey) {
    console.error(`Keep ${config.dataDir}/secret-key in another place: the backup is worthless without it.`);
  }
}

export async function restore(path: string, { json }: Shown): Promise<void> {
  const folder = resolve(path);
  const config = loadConfig();
  const manifest = await readManifest(folder);
  await prepareSecretKey(config, folder, manifest);
  await withDatabaseUrl(config, (url) => restoreBackup(config, url, folder, manifest));
  if (json) return show(manifest);
  console.error(`${contentsOf(manifest)} as of ${manifest.taken_at} are restored.`);
  console.error(`Unless nothing was done since, set RESTORED_FROM=${manifest.taken_at} before the first start.`);
}

function contentsOf({ tables, files }: Manifest): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const stored = files === null ? 'no files' : `${files.count} files (${files.bytes} bytes)`;
  return `${rows} rows of ${tables.length} tables and ${stored}`;
}

const show = (manifest: Manifest): void => console.log(JSON.stringify(manifest, null, 2));
