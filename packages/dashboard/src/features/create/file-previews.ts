import { useEffect, useSyncExternalStore } from 'react';
import { run } from '../../api/client.ts';
import { OwnFile } from '../../live/file.documents.ts';
import { createStore } from '../../store.ts';

/** URLs of previews, by the ids of their files; null: the link is still being read, or there is none. */
const previews = createStore<ReadonlyMap<string, string | null>>(new Map());
const put = (id: string, url: string | null): void => previews.set(new Map(previews.get()).set(id, url));

/**
 * Stores the path of a file's link. The host is left out, because the service may write links with another host than
 * the browser uses.
 */
export function rememberPreview(fileId: string, link: string): void {
  const { pathname, search } = new URL(link, location.origin);
  put(fileId, pathname + search);
}

/** @returns a function from an image of a form to the URL of its preview; null: none. Foreign URLs are never loaded */
export function usePreviews(images: readonly string[]): (image: string) => string | null {
  const known = useSyncExternalStore(previews.subscribe, previews.get);
  const unknown = images.filter((image) => image.startsWith('file_') && !known.has(image)).join(' ');
  useEffect(() => {
    for (const id of unknown.split(' ').filter(Boolean)) {
      put(id, null);
      run(OwnFile, { id }).then(
        ({ file }) => file.url && rememberPreview(id, file.url),
        () => undefined, // the id of the file is shown instead of a preview
      );
    }
  }, [unknown]);
  return (image) => known.get(image) ?? null;
}
