import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { TextInput } from '../../parts/text-input.tsx';

/** Asks for a name and a value that the metadata of a task must have. */
export function PairDialog({ onAdd, onClose }: { onAdd(name: string, value: string): void; onClose(): void }) {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  return (
    <Dialog
      open
      title="Tasks with this metadata"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" disabled={name === '' || value === ''} onClick={() => onAdd(name, value)}>
            Show them
          </Button>
        </>
      }
    >
      <Field label="Name" hint="such as order">
        {(ids) => (
          <TextInput {...ids} autoFocus maxLength={64} value={name} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <Field label="Value" hint="the whole value">
        {(ids) => (
          <TextInput
            {...ids}
            maxLength={512}
            value={value}
            onChange={(event) => setValue(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && name !== '' && value !== '' && onAdd(name, value)}
          />
        )}
      </Field>
    </Dialog>
  );
}
