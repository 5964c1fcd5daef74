import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DrawerContent, type DrawerProps } from './drawer.tsx';
import { DRAWER_TITLES } from './drawer-tab.ts';

/** The drawer on a narrow screen: a dialog over the page. */
export function DrawerSheet({ onClose, ...props }: DrawerProps & { onClose(): void }) {
  return (
    <Dialog
      open
      title={DRAWER_TITLES[props.tab]}
      wide
      onClose={onClose}
      actions={<Button onClick={onClose}>Close</Button>}
    >
      <DrawerContent {...props} />
    </Dialog>
  );
}
