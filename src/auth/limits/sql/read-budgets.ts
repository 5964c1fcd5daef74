import { firstDay, dayAfter, inPeriod, startOf, TODAY } from '../budget-columns.ts';
import type { BudgetState } from '../budget.ts';
import type { Sql, Statement, Tx } from '../../../platform/database/sql.ts';

const STATE = `
    b.api_key_id, b.amount_micros::float8 as amount_micros, (${inPeriod('spent', TODAY)})::float8 as spent_micros,
    (${inPeriod('reserved', TODAY)})::float8 as reserved_micros,
    case when b.period = 'total' then extract(epoch from date_trunc('second', k.created_at))
         else extract(epoch from ${startOf(firstDay(TODAY))}) end::float8 as period_start,
    extract(epoch from ${startOf(dayAfter(TODAY))})::float8 as period_end`;

/** Raw SQL because the database's clock decides which period is the current one. */
const READ: Statement = {
  name: 'auth.read_budgets',
  text: `
    select ${STATE} from key_budgets b join api_keys k on k.id = b.api_key_id
    where b.api_key_id = any($1::text[]) and b.amount_micros is not null`,
};

/**
 * Whether `soft_percent` of the budget is spent or reserved, and that was not reported yet in this period. Any share of
 * a budget of 0 is 0, so the first micro-unit reaches it.
 */
const IS_SOFT = `
    b.soft_percent is not null and ${inPeriod('spent', TODAY)} + ${inPeriod('reserved', TODAY)} > 0 and
    (${inPeriod('spent', TODAY)} + ${inPeriod('reserved', TODAY)}) * 100.0 >= b.amount_micros * b.soft_percent::numeric
    and b.threshold_of is distinct from ${firstDay(TODAY)}`;

/** Reads the whole table, which takes a millisecond with thousands of keys. */
const AT_THRESHOLD: Statement = {
  name: 'auth.budgets_at_threshold',
  text: `select b.api_key_id from key_budgets b where ${IS_SOFT} limit 100`,
};

const mark = (column: 'threshold_of' | 'exceeded_of', condition: string): Statement => ({
  name: `auth.mark_budget_${column}`,
  text: `
    update key_budgets b set ${column} = ${firstDay(TODAY)} from api_keys k
    where b.api_key_id = $1 and k.id = b.api_key_id and ${condition}
    returning ${STATE}`,
});

const MARKS = {
  threshold: mark('threshold_of', IS_SOFT),
  exceeded: mark('exceeded_of', `b.amount_micros is not null and b.exceeded_of is distinct from ${firstDay(TODAY)}`),
};

export const readBudgets = (sql: Sql, apiKeyIds: string[]): Promise<BudgetState[]> => sql.run(READ, [apiKeyIds]);

export async function budgetsAtThreshold(sql: Sql): Promise<string[]> {
  return (await sql.run<{ api_key_id: string }>(AT_THRESHOLD)).map(({ api_key_id }) => api_key_id);
}

/**
 * @returns null when the event was marked in this period already, its condition is not met, or the key has no budget
 */
export async function markBudget(tx: Tx, event: keyof typeof MARKS, apiKeyId: string): Promise<BudgetState | null> {
  const { rows } = await tx.query<BudgetState>({ ...MARKS[event], values: [apiKeyId] });
  return rows[0] ?? null;
}
