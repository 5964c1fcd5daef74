import { Menu as BaseMenu } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import { buttonClass } from './button.tsx';
import { cx } from './class-names.ts';
import styles from './menu.module.css';

/** `line` draws a line above the item. `href` leads out of the app. */
export interface MenuItem {
  label: string;
  icon?: ReactNode;
  disabled?: boolean;
  danger?: boolean;
  line?: boolean;
  href?: string;
  onSelect?: () => void;
}

interface Props {
  label: string;
  trigger: ReactNode;
  items: readonly MenuItem[];
  /** Whether the trigger is only an icon. */
  icon?: boolean;
  variant?: 'quiet' | 'primary';
}

export default function Menu({ label, trigger, items, icon = false, variant }: Props) {
  return (
    <BaseMenu.Root modal={false}>
      <BaseMenu.Trigger className={buttonClass({ icon, variant })} aria-label={label} title={icon ? label : undefined}>
        {trigger}
      </BaseMenu.Trigger>
      <BaseMenu.Portal>
        <BaseMenu.Positioner className={styles.positioner} sideOffset={4} align="end">
          <BaseMenu.Popup className={styles.popup}>
            {items.map((item) => (
              <Entry key={item.label} item={item} />
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

function Entry({ item }: { item: MenuItem }) {
  const className = cx(styles.item, item.danger && styles.danger);
  const content = (
    <>
      {item.icon}
      {item.label}
    </>
  );
  return (
    <>
      {item.line && <BaseMenu.Separator className={styles.line} />}
      {item.href ? (
        <BaseMenu.LinkItem className={className} href={item.href} target="_blank" rel="noreferrer">
          {content}
        </BaseMenu.LinkItem>
      ) : (
        <BaseMenu.Item className={className} disabled={item.disabled} onClick={() => item.onSelect?.()}>
          {content}
        </BaseMenu.Item>
      )}
    </>
  );
}
