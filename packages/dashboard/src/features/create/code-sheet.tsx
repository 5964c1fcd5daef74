import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { type CodeProps, FormCode } from './code-panel.tsx';

/** The code of the form on a phone, which has no room for it beside the form. */
export function CodeSheet({ onClose, ...form }: CodeProps & { onClose(): void }) {
  return (
    <Dialog open title="Code" wide onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <FormCode {...form} />
    </Dialog>
  );
}
