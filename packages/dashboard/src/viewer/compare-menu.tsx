import { SquareSplitHorizontal } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { MenuButton } from '../parts/menu-button.tsx';
import { TextInput } from '../parts/text-input.tsx';

interface Props {
  candidates: readonly { id: string; label: string }[];
  onChoose(fileId: string): void;
}

/** With what a picture is compared: another output, a reference, or any file of ours by its id. */
export function CompareMenu({ candidates, onChoose }: Props) {
  const [asks, setAsks] = useState(false);
  const [id, setId] = useState('');
  const isId = /^file_[0-9a-z]{26}(?:_\d+)?$/.test(id.trim());
  return (
    <>
      <MenuButton
        icon
        label="Compare with"
        variant="quiet"
        trigger={<SquareSplitHorizontal />}
        items={[
          ...candidates.map(({ id: file, label }) => ({ label, onSelect: () => onChoose(file) })),
          { label: 'Another file by its id…', line: candidates.length > 0, onSelect: () => setAsks(true) },
        ]}
      />
      {asks && (
        <Dialog
          open
          title="Compare with a file"
          onClose={() => setAsks(false)}
          actions={
            <>
              <Button onClick={() => setAsks(false)}>Back</Button>
              <Button variant="primary" disabled={!isId} onClick={() => (setAsks(false), onChoose(id.trim()))}>
                Compare
              </Button>
            </>
          }
        >
          <Field label="Id of an output or an upload" hint="It begins with file_.">
            {(ids) => <TextInput {...ids} value={id} autoFocus onChange={(event) => setId(event.target.value)} />}
          </Field>
        </Dialog>
      )}
    </>
  );
}
