import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { downloadUrl } from '../../live/link-keeper.ts';
import { report } from '../../parts/toasts.ts';
import type { Shot } from '../../viewer/shot.ts';
import { CreateArchive } from './gallery.documents.ts';

/** One zip contains at most this many files; the service has the same limit. */
const MAX_ZIPPED = 100;
/** A key may read at most this many zips at the same time. */
const MAX_ZIPS = 4;
/** The pause between downloads: browsers drop downloads that a page starts at the same time. */
const DOWNLOAD_PAUSE_MS = 250;

/** Downloads one file as it is, and several files as zips. Refuses more files than `MAX_ZIPS` zips can contain. */
export async function downloadFiles(shots: readonly Shot[]): Promise<void> {
  if (shots.length === 1) return download(downloadUrl(shots[0]!.output));
  const most = MAX_ZIPPED * MAX_ZIPS;
  if (shots.length > most) return report(`At most ${most} files are downloaded at once. Select fewer.`, true);
  for (let first = 0; first < shots.length; first += MAX_ZIPPED) {
    const fileIds = shots.slice(first, first + MAX_ZIPPED).map(({ output }) => output.id);
    try {
      const { createArchive } = await mutate(CreateArchive, { fileIds });
      download(createArchive.url);
    } catch (error) {
      return report(asCallError(error).message, true);
    }
    await new Promise((resolve) => setTimeout(resolve, DOWNLOAD_PAUSE_MS));
  }
}

function download(url: string | null): void {
  if (url === null) return;
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  link.click();
}
