import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { assertWhole, digestInto } from './digest.ts';
import { type ListedFile, readLines, writeLines } from './list-files.ts';
import { pathOfFile, pathOfFileList } from './manifest.ts';

/**
 * The maximum number of files that are copied concurrently. A distant store takes tens of milliseconds for each file.
 */
const FILES_AT_ONCE = 16;

/** A line of files.ndjson. */
export interface BackupFile extends ListedFile {
  bytes: number;
  /** In hex. */
  sha256: string;
}

export interface CopiedFiles {
  count: number;
  bytes: number;
}

/** The path of the list of files to copy, before they are copied. */
export const pathOfDraft = (folder: string): string => `${pathOfFileList(folder)}.draft`;

/**
 * Copies the files that the draft lists. Skips a file that is gone: the service has deleted it since the snapshot, when
 * its time was over.
 */
export async function saveFiles(storage: Storage, folder: string): Promise<CopiedFiles> {
  const draft = pathOfDraft(folder);
  const copied: CopiedFiles = { count: 0, bytes: 0 };
  const save = (file: ListedFile) => saveFile(storage, folder, file);
  async function* saved(): AsyncGenerator<BackupFile> {
    for await (const file of mapConcurrently(readLines<ListedFile>(draft), FILES_AT_ONCE, save)) {
      if (!file) continue;
      copied.count += 1;
      copied.bytes += file.bytes;
      yield file;
    }
  }
  const unfinished = `${pathOfFileList(folder)}.new`;
  await writeLines(unfinished, saved());
  await rename(unfinished, pathOfFileList(folder));
  await rm(draft);
  return copied;
}

async function saveFile(storage: Storage, folder: string, file: ListedFile): Promise<BackupFile | null> {
  const path = pathOfFile(folder, file.key);
  const source = await storage.open(file.key).catch((error: unknown) => {
    if (error instanceof StoredFileMissing) return null;
    throw error;
  });
  if (source === null) return null;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return { ...file, ...(await digestInto(source, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }))) };
}

/**
 * Puts the files of a backup into the storage. It may be repeated: a put replaces what is there.
 * @throws Error for the operator if a file of the backup is damaged
 */
export async function putFiles(storage: Storage, folder: string): Promise<CopiedFiles> {
  const copied: CopiedFiles = { count: 0, bytes: 0 };
  const put = (file: BackupFile) => putFile(storage, folder, file);
  for await (const bytes of mapConcurrently(readLines<BackupFile>(pathOfFileList(folder)), FILES_AT_ONCE, put)) {
    copied.count += 1;
    copied.bytes += bytes;
  }
  return copied;
}

async function putFile(storage: Storage, folder: string, file: BackupFile): Promise<number> {
  const path = pathOfFile(folder, file.key);
  await assertWhole(path, file);
  await storage.put(file.key, { path }, file.content_type);
  return file.bytes;
}
