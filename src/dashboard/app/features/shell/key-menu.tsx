import { BookOpen, ChevronDown, Keyboard, LogOut, Moon, Sun } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import type { Session } from '../../api/session.ts';
import { look, onLook, setLook } from '../../look/theme.ts';
import { MenuButton, type MenuItem } from '../../parts/menu-button.tsx';
import styles from './shell.module.css';

interface Props {
  apiKey: Session['api_key'];
  onShortcuts(): void;
  onSignOut(): void;
}

/** Who is signed in, and what belongs to this browser. */
export function KeyMenu({ apiKey, onShortcuts, onSignOut }: Props) {
  const { theme } = useSyncExternalStore(onLook, look);
  const isDark = theme === 'system' ? document.documentElement.dataset.theme === 'safelight' : theme === 'safelight';
  const items: MenuItem[] = [
    {
      label: isDark ? 'Theme: Paper' : 'Theme: Safelight',
      icon: isDark ? <Sun /> : <Moon />,
      onSelect: () => setLook({ theme: isDark ? 'paper' : 'safelight' }),
    },
    { label: 'Keyboard shortcuts', icon: <Keyboard />, onSelect: onShortcuts },
    { label: 'API reference', icon: <BookOpen />, href: '/docs' },
    { label: 'Sign out', icon: <LogOut />, line: true, onSelect: onSignOut },
  ];
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
