/** What the open drawer shows. */
export type DrawerTab = 'code' | 'settings' | 'history';

export const DRAWER_TITLES: Record<DrawerTab, string> = { code: 'Code', settings: 'Settings', history: 'History' };

const STORAGE_KEY = 'darkroom.drawer';

/** What the drawer showed last; null: the drawer was closed, or never open. */
export function savedDrawer(): DrawerTab | null {
  try {
    const saved = localStorage.getItem(STORAGE_KEY);
    return saved === 'code' || saved === 'settings' || saved === 'history' ? saved : null;
  } catch {
    return null; // storage is blocked
  }
}

export function saveDrawer(tab: DrawerTab | null): void {
  try {
    if (tab) localStorage.setItem(STORAGE_KEY, tab);
    else localStorage.removeItem(STORAGE_KEY);
  } catch {
    // Without storage the drawer is closed at each load.
  }
}
