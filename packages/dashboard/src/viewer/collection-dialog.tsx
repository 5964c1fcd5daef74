import { Check, FolderPlus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { codePoints, plural } from '../format/numbers.ts';
import type { Starred } from '../live/stars.ts';
import { useCollections } from '../live/use-collections.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { TextInput } from '../parts/text-input.tsx';
import styles from './collection-dialog.module.css';
import { collect, outputNow } from './keep.ts';

/** The service accepts at most this many characters in the name of a collection. */
const MAX_CHARACTERS = 64;

interface Props {
  files: readonly Starred[];
  onClose(): void;
}

/** Puts files in a collection, an existing or a new one. Time does not delete files in a collection. */
export function CollectionDialog({ files, onClose }: Props) {
  const { names } = useCollections(true);
  const [typed, setTyped] = useState('');
  const name = typed.trim();
  const now = new Set(files.map((file) => outputNow(file)?.collection ?? null));
  const isTooLong = codePoints(name) > MAX_CHARACTERS;
  const choose = (collection: string | null) => {
    void collect(files, collection);
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name !== '' && !isTooLong) choose(name);
  };
  return (
    <Dialog
      open
      title={files.length === 1 ? 'Put it in a collection' : `Put ${plural(files.length, 'file')} in a collection`}
      text="What is in a collection is kept: time does not delete it."
      onClose={onClose}
      actions={<Button onClick={onClose}>Cancel</Button>}
    >
      <form className={styles.new} onSubmit={submit}>
        <Field label="New collection" error={isTooLong ? `at most ${MAX_CHARACTERS} characters` : null}>
          {(ids) => <TextInput {...ids} autoFocus value={typed} onChange={(event) => setTyped(event.target.value)} />}
        </Field>
        <Button type="submit" variant="primary" disabled={name === '' || isTooLong}>
          <FolderPlus aria-hidden /> Put in
        </Button>
      </form>
      {(names.length > 0 || !(now.size === 1 && now.has(null))) && (
        <ul className={styles.names} aria-label="Collections">
          {names.map((each) => (
            <li key={each}>
              <Button variant="quiet" aria-pressed={now.has(each)} onClick={() => choose(each)}>
                <bdi>{each}</bdi> {now.has(each) && <Check aria-hidden />}
              </Button>
            </li>
          ))}
          {!(now.size === 1 && now.has(null)) && (
            <li>
              <Button variant="quiet" onClick={() => choose(null)}>
                In none, only kept
              </Button>
            </li>
          )}
        </ul>
      )}
    </Dialog>
  );
}
