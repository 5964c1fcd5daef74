import { ChevronDown } from 'lucide-react';
import type { Session } from '../../api/session.ts';
import { MenuButton, type MenuItem } from '../../parts/menu-button.tsx';
import styles from './shell.module.css';

interface Props {
  apiKey: Session['api_key'];
  items: MenuItem[];
}

/** The API key that is signed in, with the menu of `useActions`. */
export function KeyMenu({ apiKey, items }: Props) {
  return (
    <MenuButton
      label={`Signed in with ${apiKey.name} ${apiKey.hint}`}
      variant="quiet"
      items={items}
      trigger={
        <>
          <span className={styles.key}>{apiKey.name}</span>
          <span className={styles.hint}>{apiKey.hint}</span>
          <ChevronDown aria-hidden />
        </>
      }
    />
  );
}
