import type { ReactNode } from 'react';
import { OwnFile } from '../live/file.documents.ts';
import { fileUrl } from '../live/link-keeper.ts';
import { useQuery } from '../live/use-query.ts';
import { Id } from '../parts/id.tsx';
import styles from './given.module.css';
import { ownFileIn } from './own-file-in.ts';

/** A value of an input. A file of this service is shown as a small picture and its id, a foreign link without query. */
export function Given({ value }: { value: unknown }): ReactNode {
  if (Array.isArray(value)) {
    return value.map((each, at) => (
      <div key={at}>
        <Given value={each} />
      </div>
    ));
  }
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value ?? '–');
  const fileId = ownFileIn(text);
  return fileId ? <Reference fileId={fileId} text={text} /> : <bdi>{withoutQuery(text)}</bdi>;
}

/**
 * A foreign URL is never loaded. A link with a file path of this service may name another host, so the text of the link
 * is shown if the file is not found.
 */
function Reference({ fileId, text }: { fileId: string; text: string }) {
  const { data, error } = useQuery(OwnFile, { id: fileId });
  if (error) return <bdi>{withoutQuery(text)}</bdi>;
  const url = data && fileUrl(data.file);
  return (
    <span className={styles.reference}>
      {url && <img src={url} alt="Reference" loading="lazy" />}
      <Id id={fileId} />
    </span>
  );
}

const withoutQuery = (text: string): string => (/^https?:\/\/\S+$/i.test(text) ? text.replace(/\?.*/, '?…') : text);
