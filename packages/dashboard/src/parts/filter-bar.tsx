import { ListFilter, X } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';
import styles from './filter-bar.module.css';

/** A filter that is set, shown as a chip with a button to remove it. */
export interface FilterChip {
  label: string;
  onRemove(): void;
}

interface Props {
  /** Those filters behind the button Filter that are set. */
  chips: readonly FilterChip[];
  isFiltered: boolean;
  onClear(): void;
  /** The filters that are always visible. */
  children: ReactNode;
  /** The filters behind the button Filter. They are in the page even while they are hidden. */
  renderMore(isShown: boolean): ReactNode;
}

/** The filters of a list. Every choice is part of the address. */
export function FilterBar({ chips, isFiltered, onClear, children, renderMore }: Props) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const clear = isFiltered && (
    <Button variant="quiet" onClick={onClear}>
      Clear
    </Button>
  );
  return (
    <div className={styles.filters} role="search" aria-label="Filters">
      <div className={styles.line}>
        {children}
        <Button
          aria-expanded={isOpen}
          aria-controls={id}
          aria-label={chips.length > 0 ? `Filter, ${chips.length} active` : 'Filter'}
          onClick={() => setOpen(!isOpen)}
        >
          <ListFilter aria-hidden /> Filter {chips.length > 0 && <span className={styles.count}>{chips.length}</span>}
        </Button>
        {chips.length === 0 && clear}
      </div>
      <div id={id} className={styles.more} hidden={!isOpen}>
        {renderMore(isOpen)}
      </div>
      {chips.length > 0 && (
        <div className={styles.chips}>
          {chips.map(({ label, onRemove }) => (
            <Button key={label} className={styles.chip} title="Remove this filter" onClick={onRemove}>
              <bdi>{label}</bdi> <X aria-hidden />
            </Button>
          ))}
          {clear}
        </div>
      )}
    </div>
  );
}
