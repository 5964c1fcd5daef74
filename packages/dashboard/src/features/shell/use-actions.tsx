import { BookOpen, Keyboard, LogOut, Moon, Sun } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { look, onLook, setLook } from '../../look/theme.ts';
import type { MenuItem } from '../../parts/menu-button.tsx';

interface Props {
  onShortcuts(): void;
  onSignOut(): void;
}

/** The actions of the key menu, which are the same on every screen. */
export function useActions({ onShortcuts, onSignOut }: Props): MenuItem[] {
  const { theme } = useSyncExternalStore(onLook, look);
  const isDark = theme === 'system' ? document.documentElement.dataset.theme === 'safelight' : theme === 'safelight';
  return [
    {
      label: isDark ? 'Theme: Paper' : 'Theme: Safelight',
      icon: isDark ? <Sun /> : <Moon />,
      onSelect: () => setLook({ theme: isDark ? 'paper' : 'safelight' }),
    },
    { label: 'Keyboard shortcuts', icon: <Keyboard />, onSelect: onShortcuts },
    { label: 'API reference', icon: <BookOpen />, href: '/docs' },
    { label: 'Sign out', icon: <LogOut />, line: true, onSelect: onSignOut },
  ];
}
