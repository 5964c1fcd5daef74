import { LoaderCircle } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import styles from './button.module.css';
import { cx } from './class-names.ts';

export interface Appearance {
  variant?: 'primary' | 'quiet' | 'danger' | undefined;
  icon?: boolean;
  wide?: boolean;
}

/** The classes of a button, also for links. */
export const buttonClass = ({ variant, icon, wide }: Appearance = {}): string =>
  cx(styles.button, variant && styles[variant], icon && styles.icon, wide && styles.wide);

interface Props extends Omit<ComponentProps<'button'>, 'children'>, Appearance {
  children: ReactNode;
  /** What the button is doing, such as `Cancelling…`. The button is then disabled. */
  busy?: string | false | undefined;
}

export function Button({ variant, icon, wide, busy, className, children, disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || Boolean(busy)}
      className={cx(buttonClass({ variant, icon: icon ?? false, wide: wide ?? false }), className)}
    >
      {busy ? (
        <>
          <LoaderCircle className={styles.spin} aria-hidden /> {busy}
        </>
      ) : (
        children
      )}
    </button>
  );
}
