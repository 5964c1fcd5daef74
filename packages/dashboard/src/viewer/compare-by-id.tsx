import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { TextInput } from '../parts/text-input.tsx';

interface Props {
  onChoose(fileId: string): void;
  onClose(): void;
}

/** Asks for the id of any file of this service. */
export function CompareById({ onChoose, onClose }: Props) {
  const [id, setId] = useState('');
  const isId = /^file_[0-9a-z]{26}(?:_\d+)?$/.test(id.trim());
  return (
    <Dialog
      open
      title="Compare with a file"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button variant="primary" disabled={!isId} onClick={() => (onClose(), onChoose(id.trim()))}>
            Compare
          </Button>
        </>
      }
    >
      <Field label="Id of an output or an upload" hint="It begins with file_.">
        {(ids) => <TextInput {...ids} value={id} autoFocus onChange={(event) => setId(event.target.value)} />}
      </Field>
    </Dialog>
  );
}
