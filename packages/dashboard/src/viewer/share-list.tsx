import { mutate } from '../api/client.ts';
import { plural } from '../format/numbers.ts';
import { day } from '../format/time.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { useAction } from '../parts/use-action.ts';
import styles from './share-list.module.css';
import { DeleteShare, type SharedPage } from './shares.documents.ts';

interface Props {
  shares: readonly SharedPage[];
  /** Whether there are older shares, which only the API lists. */
  hasMore: boolean;
  onEnded(): void;
}

/** The shares that have not ended, newest first. */
export function ShareList({ shares, hasMore, onEnded }: Props) {
  const { busy, fault, act } = useAction();
  const end = (id: string) =>
    act(async () => {
      try {
        await mutate(DeleteShare, { id });
      } finally {
        onEnded(); // the share may have been ended elsewhere
      }
    });
  return (
    <section aria-label="Shared now">
      <h3 className={styles.head}>Shared now</h3>
      <ul className={styles.shares}>
        {shares.map(({ id, url, expiresAt, fileIds, showPrompt }) => (
          <li key={id}>
            <a href={url} target="_blank" rel="noreferrer">
              {plural(fileIds.length, 'file')}
            </a>
            <span>
              until the end of {day(expiresAt - 1)}
              {showPrompt && ', with the prompt'}
            </span>
            <CopyButton small label="Copy the link" text={url} />
            <Button variant="quiet" disabled={busy} onClick={() => void end(id)}>
              End it
            </Button>
          </li>
        ))}
      </ul>
      {hasMore && <p className={styles.more}>Older ones are in the list of the API.</p>}
      {fault && <p role="alert">{fault}</p>}
    </section>
  );
}
