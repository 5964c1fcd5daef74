import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Raise this number when programs of earlier versions cannot read the folders that this version writes. */
const FORMAT = 1;

const HEX = z.string().regex(/^[0-9a-f]{64}$/);
const COUNT = z.int().nonnegative();

const TABLE = z.object({ name: z.string(), columns: z.array(z.string()), rows: COUNT, bytes: COUNT, sha256: HEX });

const MANIFEST = z.object({
  format: z.literal(FORMAT),
  /** The version of the program that wrote the backup. */
  version: z.string(),
  /** The version of the database server. */
  postgres: z.string(),
  /** A time at or just after the snapshot from which the tables were copied. */
  taken_at: z.iso.datetime(),
  /** The names of the migrations that had run. They are the version of the schema. */
  migrations: z.array(z.string()),
  tables: z.array(TABLE),
  /** Number and bytes of the files, and the SHA-256 of files.ndjson; null in a backup without files. */
  files: z.object({ count: COUNT, bytes: COUNT, sha256: HEX }).nullable(),
  /**
   * Identifies the newest key of SECRET_KEY. Without that key, the stored API keys and the secrets of webhooks cannot
   * be used.
   */
  secret_key_fingerprint: HEX,
  /** Identifies each older key of SECRET_KEY. A restored service may need these keys too. */
  older_secret_key_fingerprints: z.array(HEX).default([]),
  /** The text by which the storage is recognised; null before its first use. */
  storage_marker: z.string().nullable(),
});

export type Manifest = z.output<typeof MANIFEST>;
export type BackupTable = z.output<typeof TABLE>;

export const pathOfTable = (folder: string, name: string): string => join(folder, 'tables', `${name}.copy`);
export const pathOfFileList = (folder: string): string => join(folder, 'files.ndjson');
export const pathOfFile = (folder: string, key: string): string => join(folder, 'files', key);
export const pathOfSecretKey = (folder: string): string => join(folder, 'secret-key');

const pathOfManifest = (folder: string): string => join(folder, 'manifest.json');

/** Writes the manifest. Call it last: a folder without a manifest is an interrupted backup. */
export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  const text = `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`;
  await writeFile(pathOfManifest(folder), text, { mode: 0o600, flush: true });
}

/** @throws Error for the operator */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = pathOfManifest(folder);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Error(`${path} cannot be read: it is no backup, or one that was interrupted.`, { cause });
  });
  const { success, data, error } = MANIFEST.safeParse(parse(text, path));
  if (!success) throw new Error(`${path} is not a manifest of format ${FORMAT}: ${z.prettifyError(error)}`);
  return data;
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path} is damaged.`, { cause });
  }
}
