import { useEffect, useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import type { ResultOf } from '../../api/graphql.ts';
import { stillUrl } from '../../live/link-keeper.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TilePicture } from '../../parts/tile-picture.tsx';
import { RecentImages } from './create.documents.ts';
import { rememberPreview } from './file-previews.ts';
import styles from './reference-picker.module.css';

type Task = ResultOf<typeof RecentImages>['tasks']['edges'][number]['node'];

interface Props {
  onPick(fileId: string): void;
  onClose(): void;
}

/** Chooses a reference image among the pictures of earlier tasks, newest first. */
export function ReferencePicker({ onPick, onClose }: Props) {
  const [tasks, setTasks] = useState<readonly Task[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [note, setNote] = useState('Loading…');

  async function read(after: string | null) {
    try {
      const { tasks: page } = await run(RecentImages, { after });
      setTasks((before) => [...(after ? before : []), ...page.edges.map(({ node }) => node)]);
      setCursor(page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null);
      setNote(page.edges.length === 0 && !after ? 'No picture was made yet.' : '');
    } catch (error) {
      setNote(asCallError(error).message);
    }
  }
  useEffect(() => void read(null), []);

  return (
    <Dialog
      open
      wide
      title="Choose a reference"
      onClose={onClose}
      actions={
        <>
          {cursor && <Button onClick={() => void read(cursor)}>Show older ones</Button>}
          <Button onClick={onClose}>Close</Button>
        </>
      }
    >
      <div className={styles.grid}>
        {tasks.flatMap(({ promptStart, result }) =>
          (result?.outputs ?? []).map((output) => {
            const still = stillUrl(output);
            return (
              still && (
                <button
                  key={output.id}
                  type="button"
                  className={styles.tile}
                  title={promptStart}
                  onClick={() => (rememberPreview(output.id, still), onPick(output.id))}
                >
                  <TilePicture src={still} alt={promptStart.slice(0, 120)} isFilm={false} />
                </button>
              )
            );
          }),
        )}
      </div>
      {note && <p role="status">{note}</p>}
    </Dialog>
  );
}
