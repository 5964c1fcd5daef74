import { OwnFile } from '../../live/file.documents.ts';
import { fileUrl } from '../../live/link-keeper.ts';
import { useQuery } from '../../live/use-query.ts';
import { Id } from '../../parts/id.tsx';
import { ownFileIn } from './own-file-in.ts';
import styles from './task.module.css';

/** A value of the input: a file of ours as a small picture, everything else as it is. */
export function Value({ value }: { value: unknown }) {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const fileId = ownFileIn(text);
  return fileId ? <ReferenceThumb fileId={fileId} text={text} /> : <bdi>{text}</bdi>;
}

/** Foreign URLs are never loaded. */
function ReferenceThumb({ fileId, text }: { fileId: string; text: string }) {
  const { data } = useQuery(OwnFile, { id: fileId });
  const url = data && fileUrl(data.file);
  if (!url) return <bdi>{text}</bdi>;
  return (
    <span className={styles.reference}>
      <img src={url} alt="Reference" loading="lazy" />
      <Id id={fileId} />
    </span>
  );
}
