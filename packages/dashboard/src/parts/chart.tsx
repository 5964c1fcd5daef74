import { type CSSProperties, useState } from 'react';
import { axisTop } from './axis-top.ts';
import styles from './chart.module.css';

export interface ChartSeries {
  name: string;
  /** The CSS variable of a colour, such as `--succeeded`. */
  tone: string;
}

export interface ChartColumn {
  label: string;
  /** One value for each series; null: unknown, which is not zero. */
  values: readonly number[] | null;
}

interface Props {
  title: string;
  series: readonly ChartSeries[];
  columns: readonly ChartColumn[];
  format(value: number): string;
  /** Whether the chart has less height, for a few figures beside others. */
  small?: boolean;
  /** Whether values are whole numbers, so that the axis shows no halves. */
  whole?: boolean;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * Stacked columns over time with an axis of values. The pointer shows the values of a column. Screen readers get the
 * newest values.
 */
export function Chart({ title, series, columns, format, small = false, whole = false }: Props) {
  const [at, setAt] = useState<number | null>(null);
  const highest = Math.max(0, ...columns.map(({ values }) => (values ? sum(values) : 0)));
  const top = axisTop(highest, whole);
  const ticks = whole && top % 2 === 1 ? [top, 0] : [top, top / 2, 0];
  // Of equal labels only the lowest is shown: without any cost, all labels would read USD 0.00.
  const labels = ticks.map(format);
  const last = columns.at(-1);
  const shown = (at === null ? null : columns[at]) ?? null;
  return (
    <figure className={styles.chart} aria-label={last && `${title}. ${wordsOf(last, series, format)}`}>
      <figcaption className={styles.head}>
        <strong>{title}</strong>
        <span className={styles.legend} hidden={shown !== null}>
          {series.map(({ name, tone }) => (
            <span key={name} className={styles.series} style={{ '--swatch': `var(${tone})` } as CSSProperties}>
              <bdi>{name}</bdi>
            </span>
          ))}
        </span>
        <span className={styles.told}>{shown && wordsOf(shown, series, format)}</span>
      </figcaption>
      <div className={small ? styles.small : styles.plot} aria-hidden>
        <div className={styles.axis}>
          {ticks.map((tick, nth) => (
            <span key={tick}>{labels[nth] !== labels[nth + 1] && labels[nth]}</span>
          ))}
        </div>
        <div
          className={styles.columns}
          style={{ '--lines': ticks.length - 1 } as CSSProperties}
          onPointerLeave={() => setAt(null)}
        >
          {columns.map(({ label, values }, index) => (
            <div
              key={label}
              className={values ? styles.column : styles.unknown}
              data-column={label}
              onPointerEnter={() => setAt(index)}
            >
              {values?.map((value, nth) => (
                <div
                  key={series[nth]?.name}
                  style={{ height: `${(value / top) * 100}%`, background: `var(${series[nth]?.tone ?? '--control'})` }}
                />
              ))}
            </div>
          ))}
        </div>
        <div className={styles.times}>
          <span>{columns[0]?.label}</span>
          <span>{last?.label}</span>
        </div>
      </div>
    </figure>
  );
}

/** `14:03: 12 succeeded, 1 failed` */
function wordsOf({ label, values }: ChartColumn, series: readonly ChartSeries[], format: Props['format']): string {
  if (!values) return `${label}: not known`;
  const parts = series.map(({ name }, nth) => ({ name, value: values[nth] ?? 0 }));
  const told = parts.length > 3 ? parts.filter(({ value }) => value > 0) : parts;
  if (told.length === 0) return `${label}: ${format(0)}`;
  return `${label}: ${told.map(({ name, value }) => `${format(value)} ${name}`).join(', ')}`;
}
