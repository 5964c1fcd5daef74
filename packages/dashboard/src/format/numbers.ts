const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A size in decimal units: `512 B`, `1.4 MB`. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A number with separators. A number from 10,000 on is shortened, such as `12.3K`, so that it fits a chip. */
export const count = (value: number): string =>
  new Intl.NumberFormat(undefined, value >= 10_000 ? { notation: 'compact', maximumFractionDigits: 1 } : {}).format(
    value,
  );

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The text of an amount that is given in millionths, with the code of the currency. */
export const money = (micros: number, currency: string): string =>
  new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: 2,
    maximumFractionDigits: 4,
  }).format(micros / 1_000_000);

/** The cost of a task; null: it cost nothing, or has no price. */
export const costWords = (cost: { amountMicros: number; currency: string } | null): string | null =>
  cost && cost.amountMicros > 0 ? money(cost.amountMicros, cost.currency) : null;

/** The cost of several tasks; a dash if it is 0 and some of the tasks have no price. */
export const sumWords = (sum: { costMicros: number; unpricedTasks: number }, currency: string): string =>
  sum.costMicros === 0 && sum.unpricedTasks > 0 ? '–' : money(sum.costMicros, currency);

/** The number of characters as the API counts them: by code points. */
export const codePoints = (text: string): number => [...text].length;

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
