/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role -- a table that CSS draws as cards loses its roles */
import type { ReactNode } from 'react';
import styles from './table.module.css';

interface Column {
  label: string;
  /** Whether the cells are numbers, which are aligned right. */
  number?: boolean;
  /** Whether only screen readers get the heading. */
  hidden?: boolean;
}

interface Props {
  label: string;
  columns: readonly Column[];
  /** The cells of each row in the order of the columns. The first cell names the row. */
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
}

/**
 * A table that scrolls sideways if it does not fit. On a phone each row is a card, whose values carry the names of
 * their columns.
 */
export function Table({ label, columns, rows }: Props) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled region needs the keyboard
    <div className={styles.wrap} role="region" aria-label={label} tabIndex={0}>
      <table className={styles.table} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ label: heading, number, hidden }) => (
              <th key={heading} data-number={number} scope="col" role="columnheader">
                {hidden ? <span className="visually-hidden">{heading}</span> : heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map(({ key, cells }) => (
            <tr key={key} role="row">
              {cells.map((cell, index) => {
                const { label: heading, number, hidden } = columns[index] ?? { label: '' };
                return (
                  <td
                    key={heading}
                    role="cell"
                    data-number={number}
                    data-label={index > 0 && !hidden ? heading : undefined}
                  >
                    <div className={styles.cell}>{cell}</div>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
