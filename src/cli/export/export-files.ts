import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FileContents, hasContent } from '../../files/content/file-contents.ts';
import { filenameOf } from '../../files/record/file.view.ts';
import { Storage, StoredFileMissing } from '../../platform/storage/storage.ts';
import { mapConcurrently } from '../backup/map-concurrently.ts';
import { digestInto } from '../backup/digest.ts';
import type { Source } from './kinds.ts';

/**
 * The maximum number of files that are copied concurrently. A distant store takes tens of milliseconds for each file.
 */
const AT_ONCE = 8;

/** The folder for the copied bytes. */
export const FILES = 'files';

export interface ExportedFiles {
  count: number;
  bytes: number;
  /** Ids of files that the storage lacks, or that were deleted during the export. */
  missing: string[];
  /** Ids of files whose stored bytes no longer have their recorded SHA-256. The export leaves these files out. */
  damaged: string[];
}

/** Copies the bytes of these files to `files/<id>.<extension>`. */
export async function exportFiles(source: Source, ids: AsyncIterable<string>, folder: string): Promise<ExportedFiles> {
  await mkdir(join(folder, FILES), { mode: 0o700 });
  const exported: ExportedFiles = { count: 0, bytes: 0, missing: [], damaged: [] };
  for await (const { id, bytes } of mapConcurrently(ids, AT_ONCE, (id) => exportFile(source, id, folder))) {
    if (typeof bytes === 'string') exported[bytes].push(id);
    else {
      exported.count += 1;
      exported.bytes += bytes;
    }
  }
  return exported;
}

interface ExportedFile {
  id: string;
  /** How many bytes were copied, or why none were. */
  bytes: number | 'missing' | 'damaged';
}

async function exportFile({ of }: Source, id: string, folder: string): Promise<ExportedFile> {
  const found = await of(FileContents).find(id);
  if (!found || !hasContent(found)) return { id, bytes: 'missing' };
  try {
    const path = join(folder, FILES, filenameOf(id, found.contentType));
    const content = await of(Storage).open(found.storageKey);
    const { bytes, sha256 } = await digestInto(
      content,
      createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    );
    if (sha256 === found.sha256) return { id, bytes };
    await rm(path);
    return { id, bytes: 'damaged' };
  } catch (error) {
    if (error instanceof StoredFileMissing) return { id, bytes: 'missing' };
    throw error;
  }
}
