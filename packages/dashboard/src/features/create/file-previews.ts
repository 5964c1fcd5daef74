import { useEffect, useSyncExternalStore } from 'react';
import { run } from '../../api/client.ts';
import { OwnFile } from '../../live/file.documents.ts';

/** URLs of previews, by the ids of their files; null: still loading, or the file has no preview. */
const previews = new Map<string, string | null>();
const listeners = new Set<() => void>();
let version = 0;

function put(fileId: string, url: string | null): void {
  previews.set(fileId, url);
  version++;
  for (const listener of listeners) listener();
}

/**
 * Stores the path of a link for its file. The host is left out: the service may name itself by another host than the
 * browser uses.
 */
export function rememberPreview(fileId: string, link: string): void {
  const { pathname, search } = new URL(link, location.origin);
  put(fileId, pathname + search);
}

/** Previews of the images of a form. Foreign URLs are never loaded. */
export function usePreviews(images: readonly string[]): (image: string) => string | null {
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => version,
  );
  const unknown = images.filter((image) => image.startsWith('file_') && !previews.has(image)).join(' ');
  useEffect(() => {
    for (const id of unknown.split(' ').filter(Boolean)) {
      previews.set(id, null);
      run(OwnFile, { id }).then(
        ({ file }) => file.url && rememberPreview(id, file.url),
        () => undefined, // its id is shown instead of a preview
      );
    }
  }, [unknown]);
  return (image) => previews.get(image) ?? null;
}
