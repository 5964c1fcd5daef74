import type { ReactNode } from 'react';
import styles from './table.module.css';

interface Column {
  label: string;
  /** Numbers stand at the right. */
  number?: boolean;
  /** The heading is only for screen readers. */
  hidden?: boolean;
}

interface Props {
  label: string;
  columns: readonly Column[];
  /** Cells of each row, in the order of the columns. */
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
}

/** A table that scrolls sideways by itself where it does not fit. */
export function Table({ label, columns, rows }: Props) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled region needs the keyboard
    <div className={styles.wrap} role="region" aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ label: heading, number, hidden }) => (
              <th key={heading} data-number={number} scope="col">
                {hidden ? <span className="visually-hidden">{heading}</span> : heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => (
                <td key={columns[index]?.label} data-number={columns[index]?.number}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
