import { OwnFile } from '../../live/file.documents.ts';
import { fileUrl } from '../../live/link-keeper.ts';
import { useQuery } from '../../live/use-query.ts';
import { Id } from '../../parts/id.tsx';
import styles from './task.module.css';

/** A reference of ours as a small picture. Foreign URLs are never loaded. */
export function ReferenceThumb({ fileId }: { fileId: string }) {
  const { data } = useQuery(OwnFile, { id: fileId });
  const url = data && fileUrl(data.file);
  return (
    <span className={styles.reference}>
      {url && <img src={url} alt="Reference" loading="lazy" />}
      <Id id={fileId} />
    </span>
  );
}
