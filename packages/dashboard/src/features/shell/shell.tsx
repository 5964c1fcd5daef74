import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { Ellipsis, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { asCallError } from '../../api/errors.ts';
import { loadAllParts, part } from '../../api/late-part.ts';
import { endSession, onOtherKey, onSignIn, type Session, signIn } from '../../api/session.ts';
import { MOD, useShortcuts } from '../../keys/shortcuts.ts';
import { forgetPlaces } from '../../live/list-places.ts';
import { startTaskFeed } from '../../live/task-feed.ts';
import { allCounts, followCounts, onCounts } from '../../live/task-counts.ts';
import { clearTasks } from '../../live/task-store.ts';
import { keepTasksTrue } from '../../live/use-task.ts';
import { Lamp } from '../../parts/lamp.tsx';
import { MenuButton } from '../../parts/menu-button.tsx';
import { Toaster } from '../../parts/toaster.tsx';
import { report } from '../../parts/toasts.ts';
import { AwaitedNote } from './awaited-note.tsx';
import { KeyMenu } from './key-menu.tsx';
import { LiveBadge } from './live-badge.tsx';
import { LiveRegion } from './live-region.tsx';
import { Nav } from './nav.tsx';
import { MENU_ITEMS } from './menu-items.ts';
import styles from './shell.module.css';
import { useActions } from './use-actions.tsx';

const Palette = lazy(part(() => import('./palette.tsx').then(({ Palette: it }) => ({ default: it }))));
const ShortcutHelp = lazy(part(() => import('./shortcut-help.tsx').then(({ ShortcutHelp: it }) => ({ default: it }))));

/** The pause before all other parts of the app are loaded. By then the first screen is usually drawn. */
const CALM_MS = 3_000;

/** How many entries the tab bar of a narrow screen has, beside "More". */
const TABS = 3;

onOtherKey(() => {
  clearTasks();
  forgetPlaces();
});

/**
 * The frame around every screen: menu, search and connection badge. It also runs the live feed if the key may read
 * tasks.
 */
export function Shell({ session }: { session: Session }) {
  const navigate = useNavigate();
  const counts = useSyncExternalStore(onCounts, allCounts);
  const active = counts ? counts.queued + counts.running : 0;
  const { state } = useSyncExternalStore(onSignIn, signIn);
  const [shown, setShown] = useState<'palette' | 'keys' | null>(null);
  const { scopes } = session.api_key;
  const readsTasks = scopes.includes('tasks:read');

  useEffect(() => {
    if (state !== 'in' || !readsTasks) return undefined;
    const stops = [startTaskFeed(), followCounts(), keepTasksTrue()];
    return () => {
      for (const stop of stops) stop();
    };
  }, [state, readsTasks]);
  useEffect(() => {
    const timer = setTimeout(() => void loadAllParts(), CALM_MS);
    return () => clearTimeout(timer);
  }, []);

  const go = (path: string) => {
    setShown(null);
    const [to, search] = path.split('?', 2);
    void navigate({ to: to as string, search: Object.fromEntries(new URLSearchParams(search)) });
  };
  useShortcuts({
    'mod+k': () => setShown('palette'),
    '?': () => setShown('keys'),
    ...Object.fromEntries(MENU_ITEMS.map(({ key, to }) => [`g ${key}`, () => go(to)])),
  });

  const signOut = () =>
    void endSession().then(
      () => navigate({ to: '/sign-in' }),
      (error: unknown) => report(`You are still signed in. ${asCallError(error).message}`, true),
    );
  const actions = useActions({ onShortcuts: () => setShown('keys'), onSignOut: signOut });
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <nav className={styles.side} aria-label="Main">
        <Link to="/create" className={styles.brand}>
          <Lamp lit={active > 0} /> <span>Darkroom</span>
        </Link>
        <Nav scopes={scopes} active={active} />
      </nav>
      <header className={styles.head}>
        <Link to="/create" className={`${styles.brand} ${styles.headBrand}`} aria-label="Darkroom">
          <Lamp lit={active > 0} />
        </Link>
        <button type="button" className={styles.search} onClick={() => setShown('palette')}>
          <Search aria-hidden /> <span>Search or jump</span> <kbd>{MOD}K</kbd>
        </button>
        <span className={styles.space} />
        {readsTasks && <LiveBadge />}
        <KeyMenu apiKey={session.api_key} items={actions} />
      </header>
      <main className={styles.main} id="main" tabIndex={-1}>
        <AwaitedNote />
        <Outlet />
      </main>
      <nav className={styles.tabs} aria-label="Main, short">
        {MENU_ITEMS.slice(0, TABS).map(({ to, label, Icon }) => (
          <Link key={to} to={to}>
            <Icon aria-hidden /> {label}
          </Link>
        ))}
        {MENU_ITEMS.length > TABS && (
          <MenuButton
            label="More screens"
            trigger={
              <>
                <Ellipsis aria-hidden /> More
              </>
            }
            items={MENU_ITEMS.slice(TABS).map(({ to, label, Icon }) => ({
              label,
              icon: <Icon />,
              onSelect: () => go(to),
            }))}
          />
        )}
      </nav>
      <Suspense>
        {shown === 'palette' && (
          <Palette readsTasks={readsTasks} actions={actions} onClose={() => setShown(null)} onGo={go} />
        )}
        {shown === 'keys' && <ShortcutHelp open onClose={() => setShown(null)} />}
      </Suspense>
      <Toaster />
      <LiveRegion />
    </div>
  );
}
