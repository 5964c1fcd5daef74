import { Link } from '@tanstack/react-router';
import { LockKeyhole } from 'lucide-react';
import type { Scope } from '../../api/session.ts';
import { GROUPS, type MenuItem, MENU_ITEMS } from './menu-items.ts';
import styles from './shell.module.css';

interface Props {
  scopes: readonly Scope[];
  active: number;
}

/** The menu at the side. An entry has a lock if the key lacks its scope. */
export function Nav({ scopes, active }: Props) {
  return (
    <>
      {Object.entries(GROUPS).map(([group, heading]) => {
        const items = MENU_ITEMS.filter((item) => item.group === group);
        if (items.length === 0) return null;
        return (
          <div key={group} role="group" aria-label={heading ?? 'Work'}>
            {heading && <p className={styles.group}>{heading}</p>}
            {items.map((item) => (
              <NavLink
                key={item.to}
                item={item}
                locked={isLocked(item, scopes)}
                active={item.to === '/tasks' ? active : 0}
              />
            ))}
          </div>
        );
      })}
    </>
  );
}

export const isLocked = ({ scope }: MenuItem, scopes: readonly Scope[]): boolean =>
  scope !== undefined && !scopes.includes(scope);

function NavLink({ item: { to, label, Icon }, locked, active }: { item: MenuItem; locked: boolean; active: number }) {
  return (
    <Link to={to} className={styles.link} title={label}>
      <Icon aria-hidden />
      <span>{label}</span>
      {active > 0 && <span className={styles.aside}>{active}</span>}
      {locked && <LockKeyhole className={styles.lock} aria-label="needs another scope" />}
    </Link>
  );
}
