import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import styles from './filter-bar.module.css';

interface Props {
  isFiltered: boolean;
  onClear(): void;
  children: ReactNode;
}

/** What narrows a list. Every choice is part of the address. */
export function FilterBar({ isFiltered, onClear, children }: Props) {
  return (
    <div className={styles.filters} role="search" aria-label="Filters">
      {children}
      {isFiltered && (
        <Button variant="quiet" onClick={onClear}>
          Clear
        </Button>
      )}
    </div>
  );
}
