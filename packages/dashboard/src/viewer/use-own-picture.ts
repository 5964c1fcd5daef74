import { OwnFile } from '../live/file.documents.ts';
import { fileUrl } from '../live/link-keeper.ts';
import { useQuery } from '../live/use-query.ts';
import type { Shown } from './picture.tsx';

/** A picture of this service by its id; null: not read yet, deleted, or a film. */
export function useOwnPicture(fileId: string | null): Shown | null {
  const { data } = useQuery(OwnFile, fileId ? { id: fileId } : null);
  const file = data?.file;
  if (!fileId || !file || file.id !== fileId || file.contentType.startsWith('video/')) return null;
  const src = fileUrl(file);
  if (src === null) return null;
  return { fileId, src, alt: `The other picture, ${fileId}`, width: file.width ?? 1, height: file.height ?? 1 };
}
