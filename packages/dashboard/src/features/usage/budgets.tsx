import { Link } from '@tanstack/react-router';
import { money, percent } from '../../format/numbers.ts';
import { day } from '../../format/time.ts';
import { Pager, type PagerProps } from '../../parts/pager.tsx';
import stat from '../../parts/stat.module.css';
import styles from './budgets.module.css';
import type { UsageKey } from './usage.documents.ts';

const PERIODS = { DAY: 'a day', MONTH: 'a month', TOTAL: 'in all' };

interface Props {
  keys: readonly UsageKey[];
  currency: string;
  /** Null: the list has only one key. */
  pager: PagerProps | null;
}

/** What each key has spent of its budget, and what its unfinished tasks have reserved. */
export function Budgets({ keys, currency, pager }: Props) {
  if (keys.length === 0 && !pager?.onNewer && !pager?.onOlder) return null;
  return (
    <section className={stat.section}>
      <h2>Budgets</h2>
      {keys.length === 0 && <p className={stat.muted}>None of these keys has a budget.</p>}
      {keys.length > 0 && (
        <ul className={styles.budgets} aria-label="Budgets">
          {keys.map((key) => (
            <Budget key={key.id} of={key} currency={currency} />
          ))}
        </ul>
      )}
      {pager && <Pager of="budgets" {...pager} />}
    </section>
  );
}

function Budget({ of: { id, name, limits, budgetStatus }, currency }: { of: UsageKey; currency: string }) {
  const { budget } = limits;
  if (!budget) return null;
  const { amountMicros, period, softPercent } = budget;
  const { spentMicros = 0, reservedMicros = 0, periodEnd = null } = budgetStatus ?? {};
  const used = amountMicros === 0 ? 1 : (spentMicros + reservedMicros) / amountMicros;
  const spent = amountMicros === 0 ? 1 : spentMicros / amountMicros;
  const isSoft = softPercent !== null && used * 100 >= softPercent;
  const tone = used >= 1 ? styles.full : isSoft ? styles.soft : styles.under;
  const words = `${money(spentMicros, currency)} of ${money(amountMicros, currency)} ${PERIODS[period]}`;
  return (
    <li className={styles.budget}>
      <Link to="/keys/$keyId" params={{ keyId: id }}>
        <bdi>{name}</bdi>
      </Link>
      <span
        className={`${styles.bar} ${tone}`}
        role="meter"
        aria-label={`Budget of ${name}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.round(used * 100))}
        aria-valuetext={words}
      >
        <span className={styles.spent} style={{ width: percentOf(spent) }} />
        <span className={styles.reserved} style={{ width: percentOf(Math.min(used, 1) - Math.min(spent, 1)) }} />
        {softPercent !== null && <span className={styles.mark} style={{ insetInlineStart: `${softPercent}%` }} />}
      </span>
      <span className={styles.words}>
        {words}, {percent(used)}
        {reservedMicros > 0 && `, ${money(reservedMicros, currency)} of it reserved`}
        {periodEnd !== null && `; starts again on ${day(periodEnd)}`}
      </span>
    </li>
  );
}

const percentOf = (share: number): string => `${Math.min(1, Math.max(0, share)) * 100}%`;
