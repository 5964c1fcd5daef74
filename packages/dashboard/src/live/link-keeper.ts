import { run } from '../api/client.ts';
import { OwnFile } from './file.documents.ts';

/**
 * A link is used until this many seconds before it expires, because a new link makes the browser load the file again.
 */
const MARGIN_S = 60;
const MAX_LINKS = 20_000;

const kept = new Map<string, { url: string; expiresAt: number }>();

/**
 * The link of a file, without its host; null: the file is gone. The host is left out because the service may name
 * itself by another host than the browser uses.
 */
export function fileUrl(file: { id: string; url: string | null; urlExpiresAt: number | null }): string | null {
  if (file.url === null) {
    kept.delete(file.id); // the file was deleted, so its old link no longer works
    return null;
  }
  const now = Date.now() / 1_000;
  const known = kept.get(file.id);
  if (known && known.expiresAt - MARGIN_S > now) return known.url;
  const { pathname, search } = new URL(file.url, location.origin);
  const url = pathname + search;
  if (kept.size >= MAX_LINKS) kept.delete(kept.keys().next().value ?? '');
  kept.set(file.id, { url, expiresAt: file.urlExpiresAt ?? now });
  return url;
}

/**
 * The link that saves the file. It has `download=1`, because browsers ignore the attribute `download` after a redirect
 * to another origin.
 */
export function downloadUrl(file: Parameters<typeof fileUrl>[0]): string | null {
  const url = fileUrl(file);
  return url && `${url}&download=1`;
}

/** The link of the file's small still, for tiles; if there is none, that of the file. */
export function stillUrl(
  file: Parameters<typeof fileUrl>[0] & { preview: { url: string; urlExpiresAt: number } | null },
): string | null {
  return file.preview ? fileUrl({ id: `${file.id} still`, ...file.preview }) : fileUrl(file);
}

/** Reads a new link for a file that failed to load. Null: the file is gone, or the service does not answer. */
export async function renewLink(fileId: string): Promise<string | null> {
  kept.delete(fileId);
  const answer = await run(OwnFile, { id: fileId }).catch(() => null);
  return answer ? fileUrl(answer.file) : null;
}
