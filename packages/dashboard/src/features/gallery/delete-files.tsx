import { useRef, useState } from 'react';
import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { plural } from '../../format/numbers.ts';
import { readTask } from '../../live/use-task.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { report } from '../../parts/toasts.ts';
import { outputNow } from '../../viewer/keep.ts';
import type { Shot } from '../../viewer/shot.ts';
import { DeleteFile } from './gallery.documents.ts';

/** From this many files on, the user has to type the number to confirm. */
const TYPED_FROM = 51;

interface Props {
  shots: readonly Shot[];
  /** Called when the user cancels the deletion. */
  onKeep(): void;
  /** @param fileIds the deleted files */
  onDone(fileIds: ReadonlySet<string>): void;
  onClose(): void;
}

/** Deletes the files that were selected when the dialog opened. */
export function DeleteFiles({ shots, onKeep, onDone, onClose }: Props) {
  const [frozen] = useState(shots);
  const [kept] = useState(() => shots.filter((shot) => outputNow(shot)?.kept).length);
  const [typed, setTyped] = useState('');
  const [tried, setTried] = useState<number | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const stopped = useRef(false);
  const files = plural(frozen.length, 'file');
  const needsTyping = frozen.length >= TYPED_FROM;

  async function remove() {
    const deleted = new Set<string>();
    const refused = new Map<string, number>();
    setTried(0);
    for (const [at, { output, taskId }] of frozen.entries()) {
      if (stopped.current) break;
      const refusal = await mutate(DeleteFile, { id: output.id }).then(() => null, asCallError);
      // A file that somebody else has deleted meanwhile counts as deleted.
      if (refusal && refusal.code !== 'file_not_found')
        refused.set(refusal.message, (refused.get(refusal.message) ?? 0) + 1);
      else deleted.add(output.id);
      await readTask(taskId);
      setTried(at + 1);
    }
    onDone(deleted);
    const words = [`${plural(deleted.size, 'file')} deleted.`];
    for (const [message, times] of refused) words.push(`${times} refused: ${message}`);
    if (refused.size > 0) return setFault(words.join(' '));
    const left = frozen.length - deleted.size;
    if (left > 0) words.push(`${left} left alone.`);
    report(words.join(' '));
    onClose();
  }

  return (
    <Dialog
      open
      title={`Delete ${files}?`}
      text={`${frozen.length === 1 ? 'It' : 'They'} cannot be brought back, and links to ${frozen.length === 1 ? 'it' : 'them'} end. The records of their tasks stay.${kept > 0 ? ` ${kept} of them ${kept === 1 ? 'is' : 'are'} kept.` : ''}`}
      {...(tried === null && { onClose: onKeep })}
      actions={
        fault !== null ? (
          <Button onClick={onClose}>Close</Button>
        ) : tried !== null ? (
          <Button onClick={() => (stopped.current = true)}>Stop</Button>
        ) : (
          <>
            <Button onClick={onKeep}>Cancel</Button>
            <Button
              variant="danger"
              disabled={needsTyping && typed !== String(frozen.length)}
              onClick={() => void remove()}
            >
              Delete {files}
            </Button>
          </>
        )
      }
    >
      {needsTyping && tried === null && (
        <Field label={`Type ${frozen.length} to confirm`}>
          {(ids) => (
            <TextInput
              {...ids}
              inputMode="numeric"
              value={typed}
              onChange={(event) => setTyped(event.target.value.trim())}
            />
          )}
        </Field>
      )}
      {tried !== null && fault === null && (
        <ProgressBar percent={Math.round((tried / frozen.length) * 100)} label="Deleted so far" />
      )}
      {fault !== null && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
