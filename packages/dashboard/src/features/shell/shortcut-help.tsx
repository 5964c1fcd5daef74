import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { MOD } from '../../keys/shortcuts.ts';
import { MENU_ITEMS } from './menu-items.ts';
import styles from './palette.module.css';

const KEYS: [string, string][] = [
  [`${MOD}K`, 'Search or jump'],
  [`${MOD}Enter`, 'Generate'],
  ['?', 'These shortcuts'],
  ['j  k', 'Next, previous'],
  ['r', 'Run again'],
  ['e', 'Edit as new'],
  ['c', 'Cancel'],
  ['d', 'Download'],
  ['v', 'Vary'],
  ['u', 'Use as reference'],
  ['s', 'Keep, give up'],
  ['b', 'Put in a collection'],
  ['x  Shift+x', 'Select, select up to here'],
  ['Space', 'Peek at the task'],
  ['.', 'Show what is new in a list; next frame'],
  ['Hold b', 'The other picture, while comparing'],
  ['i  l  t', 'Info, locate, task'],
  ['[  ]', 'Previous, next output'],
  ['+  −  0  1', 'Zoom in, out, fit, full size'],
];

export function ShortcutHelp({ open, onClose }: { open: boolean; onClose(): void }) {
  const keys = [...KEYS, ...MENU_ITEMS.map(({ key, label }): [string, string] => [`g ${key}`, `Go to ${label}`])];
  return (
    <Dialog open={open} title="Keyboard shortcuts" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <dl className={styles.keys}>
        {keys.map(([key, what]) => (
          <div key={what}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
