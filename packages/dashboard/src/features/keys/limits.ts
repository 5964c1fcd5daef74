import { graphql, type ResultOf } from '../../api/graphql.ts';
import { bytes, count } from '../../format/numbers.ts';

export const LimitFields = graphql(`
  fragment LimitFields on ApiKeyLimits {
    createsPerMinute
    readsPerMinute
    maxRunning
    maxQueued
    maxFileBytes
    maxRequestFileBytes
    maxKeptBytes
    weight
    budget {
      amountMicros
      period
      softPercent
    }
  }
`);

type Limits = ResultOf<typeof LimitFields>;
export type LimitName = Exclude<keyof Limits, 'budget'>;

interface Limit {
  name: LimitName;
  label: string;
  /** The field's name in the API. */
  field: string;
  hint: string;
  /** The smallest value. By default 0, which means no limit. */
  min?: number;
  max?: number;
  /** How a value of this limit is written; by default with `count`. */
  write?: (limit: number) => string;
}

/** The limits, in the order of the form. */
export const LIMITS: readonly Limit[] = [
  { name: 'createsPerMinute', label: 'Creations a minute', field: 'creates_per_minute', hint: '0: no limit' },
  { name: 'readsPerMinute', label: 'Other calls a minute', field: 'reads_per_minute', hint: '0: no limit' },
  { name: 'maxRunning', label: 'Running at once', field: 'max_running', hint: 'further tasks wait; 0: no limit' },
  { name: 'maxQueued', label: 'Queued at once', field: 'max_queued', hint: 'further ones are refused; 0: no limit' },
  { name: 'maxFileBytes', label: 'Bytes of uploads', field: 'max_file_bytes', hint: '0: no limit', write: bytes },
  {
    name: 'maxRequestFileBytes',
    label: 'Bytes in requests',
    field: 'max_request_file_bytes',
    hint: 'of the files of tasks that came with them; 0: no limit',
    write: bytes,
  },
  {
    name: 'maxKeptBytes',
    label: 'Bytes kept',
    field: 'max_kept_bytes',
    hint: 'of outputs with a star; 0: no limit',
    write: bytes,
  },
  {
    name: 'weight',
    label: 'Weight',
    field: 'weight',
    hint: '1 to 100: share of the time of workers while others wait',
    min: 1,
    max: 100,
  },
];

/** A limit in force, as text for people. */
export const limitText = ({ min = 0, write = count }: Limit, limit: number): string =>
  min === 0 && limit === 0 ? 'no limit' : write(limit);

/** The texts in the fields of the form. */
export interface LimitTexts {
  limits: Record<LimitName, string>;
  /** Empty: there is no budget. */
  amount: string;
  period: NonNullable<Limits['budget']>['period'];
  soft: string;
}

const MICROS = 1_000_000;

/** @param limits null for a new key, whose empty fields keep the configured values */
export function textsOf(limits: Limits | null): LimitTexts {
  const budget = limits?.budget;
  return {
    limits: Object.fromEntries(
      LIMITS.map(({ name }) => [name, limits ? String(limits[name]) : '']),
    ) as LimitTexts['limits'],
    amount: budget ? String(budget.amountMicros / MICROS) : '',
    period: budget?.period ?? 'MONTH',
    soft: budget?.softPercent ? String(budget.softPercent) : '',
  };
}

/**
 * The changes, as the API takes them. An emptied field goes back to the configured value; an emptied amount removes the
 * budget. Returns undefined if nothing has changed.
 */
export function changesOf(texts: LimitTexts, before: LimitTexts) {
  const limits: Partial<Record<LimitName, number | null>> = {};
  for (const { name } of LIMITS) {
    const text = texts.limits[name].trim();
    if (text !== before.limits[name]) limits[name] = text === '' ? null : Number(text);
  }
  const budget = budgetOf(texts);
  const isSame = JSON.stringify(budget) === JSON.stringify(budgetOf(before));
  if (Object.keys(limits).length === 0 && isSame) return undefined;
  return { ...limits, ...(!isSame && { budget }) };
}

function budgetOf({ amount, period, soft }: LimitTexts) {
  if (amount.trim() === '') return null;
  const amountMicros = Math.round(Number(amount) * MICROS);
  return { amountMicros, period, ...(soft.trim() !== '' && { softPercent: Number(soft) }) };
}
