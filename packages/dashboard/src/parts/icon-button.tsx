import type { ComponentProps, ReactNode } from 'react';
import { Button } from './button.tsx';

interface Props extends Omit<ComponentProps<typeof Button>, 'children' | 'aria-label' | 'title' | 'icon'> {
  label: string;
  /** The key with the same effect, shown with the label. */
  shortcut?: string;
  children: ReactNode;
}

export function IconButton({ label, shortcut, children, variant = 'quiet', ...rest }: Props) {
  return (
    <Button {...rest} icon variant={variant} aria-label={label} title={shortcut ? `${label} (${shortcut})` : label}>
      {children}
    </Button>
  );
}
